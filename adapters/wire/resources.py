"""Rules of resources and trials to protobuf and back."""

from switchboard.downstream.v1 import resources_pb2 as pb

from adapters.wire.conversion import Conversion
from domain.routing.trials.model import ResourceRule, ResourceRules, ResourceTrial, TrialAnswer

RULE = Conversion(ResourceRule, pb.Rule)
RULES = Conversion(ResourceRules, pb.ListRulesResponse)
ANSWER = Conversion(TrialAnswer, pb.TrialAnswer)
TRIAL = Conversion(ResourceTrial, pb.TryResourceResponse)


def rules_to_pb(rules: ResourceRules) -> pb.ListRulesResponse:
    return RULES.to_pb(rules, rules=map(RULE.to_pb, rules.rules))


def rules_from_pb(message: pb.ListRulesResponse) -> ResourceRules:
    return RULES.from_pb(message, rules=tuple(map(RULE.from_pb, message.rules)))


def trial_to_pb(trial: ResourceTrial) -> pb.TryResourceResponse:
    rule = RULE.to_pb(trial.rule) if trial.rule else None
    return TRIAL.to_pb(trial, rule=rule, answer=ANSWER.to_pb(trial.answer) if trial.answer else None)


def trial_from_pb(message: pb.TryResourceResponse) -> ResourceTrial:
    rule = RULE.from_pb(message.rule) if message.HasField("rule") else None
    answer = ANSWER.from_pb(message.answer) if message.HasField("answer") else None
    return TRIAL.from_pb(message, rule=rule, answer=answer)
