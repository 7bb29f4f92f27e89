"""Stubs of the gRPC services, with the packages of `proto/switchboard`. Written by `make proto`."""
