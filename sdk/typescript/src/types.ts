/** The REST interface. Written by generate.py from its OpenAPI description. */

export interface paths {
    "/api/agent/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All definitions
         * @description All channel types with their configuration fields and set-up steps.
         */
        get: operations["list_definitions_api_agent_channels_get"];
        put?: never;
        /**
         * Create an instance (legacy alias)
         * @description Checks the configuration against the channel's definition and stores it encrypted. Names of instances are unique for each user and channel (409). With `id` an instance of the caller is updated (200). A platform that refuses the webhook or the credentials fails nothing: its words are in `webhookError`. The older path of POST /api/agent/channel-instances.
         */
        post: operations["create_instance_api_agent_channels_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channels/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Live connections
         * @description The connections that are up, of the caller's instances; an admin sees all.
         */
        get: operations["status_api_agent_channels_status_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channels/{type}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One definition
         * @description One channel type with its configuration fields and set-up steps.
         */
        get: operations["definition_api_agent_channels__type__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's instances
         * @description The active instances of the caller, ordered by id. With `scope=shared` or `scope=all` each has `permissionLevel`.
         */
        get: operations["list_instances_api_agent_channel_instances_get"];
        put?: never;
        /**
         * Create an instance, or update the one named by id
         * @description Checks the configuration against the channel's definition and stores it encrypted. Names of instances are unique for each user and channel (409). With `id` an instance of the caller is updated (200). A platform that refuses the webhook or the credentials fails nothing: its words are in `webhookError`.
         */
        post: operations["create_instance_api_agent_channel_instances_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One instance
         * @description One instance with its configuration as it was stored.
         */
        get: operations["get_instance_api_agent_channel_instances__instanceId__get"];
        /**
         * Update an instance
         * @description Replaces the configuration, and the name, resource, routes and fallback where they are given. Only the owner may.
         */
        put: operations["update_instance_api_agent_channel_instances__instanceId__put"];
        post?: never;
        /**
         * Delete an instance
         * @description Deletes the instance, its waiting messages and its replies on their way, and takes back the webhook that was registered for it. Only the owner may.
         */
        delete: operations["delete_instance_api_agent_channel_instances__instanceId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/trusted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Trust an instance, or trust it no longer
         * @description Senders who are proved by a secret or server of the instance's owner count as other users only where an admin has marked the instance as trusted. Admins alone may.
         */
        put: operations["set_trusted_api_agent_channel_instances__instanceId__trusted_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channels/instance/{instanceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete an instance (legacy alias)
         * @description Deletes the instance, its waiting messages and its replies on their way, and takes back the webhook that was registered for it. Only the owner may. The older path of DELETE /api/agent/channel-instances/{instanceId}.
         */
        delete: operations["delete_instance_api_agent_channels_instance__instanceId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/request-pairing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Force a new pairing code
         * @description Asks for a new pairing code of a linked device; waits for up to 20 seconds. A failure is an answer with `success` false. 400 for other channels.
         */
        post: operations["request_pairing_api_agent_channel_instances__instanceId__request_pairing_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What works and what does not
         * @description What worked last, what failed last, what waits, and what to mend.
         */
        get: operations["health_api_agent_channel_instances__instanceId__health_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reply parts on their way, sent, or given up
         * @description The parts of replies, ordered by id: on their way, sent, or given up.
         */
        get: operations["deliveries_api_agent_channel_instances__instanceId__deliveries_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/deliveries/{deliveryId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Sends a part again that was given up. 409 for one that was sent or is on its way.
         */
        post: operations["replay_api_agent_channel_instances__instanceId__deliveries__deliveryId__replay_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Drop a delivery
         * @description Removes a part from the outbox.
         */
        delete: operations["drop_api_agent_channel_instances__instanceId__deliveries__deliveryId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/unanswered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Messages that are not answered
         * @description Messages that are not answered, such as mails of lists and machines, with the reason; the newest first.
         */
        get: operations["unanswered_api_agent_channel_instances__instanceId__unanswered_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/unanswered/{unansweredId}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a message that was not answered
         * @description Hands a message to the resource as if it had just come, and takes it off the list.
         */
        post: operations["release_api_agent_channel_instances__instanceId__unanswered__unansweredId__release_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * With whom an instance is shared; needs MANAGE
         * @description Users and teams, and their levels. The owner is not among them.
         */
        get: operations["list_permissions_api_agent_channel_instances__instanceId__permissions_get"];
        /**
         * Share an instance, or stop sharing it; needs MANAGE
         * @description Gives a user or a team a level, or takes it away with 0. 1 VIEW: conversations, health, deliveries. 2 ANSWER: take over, answer, send first, replay. 3 MANAGE: change, delete, share.
         */
        put: operations["set_permission_api_agent_channel_instances__instanceId__permissions_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-forms/{type}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The form of a channel
         * @description The fields of a channel's configuration with what a form needs: which are secret, which come first, which values are allowed.
         */
        get: operations["form_api_agent_channel_forms__type__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-forms/{type}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a new configuration
         * @description The faults for which creating an instance would be refused, per field. Saves nothing, and asks no platform.
         */
        post: operations["check_api_agent_channel_forms__type__check_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-forms/{type}/check-credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check new credentials
         * @description Has the platform try the credentials, and answers in its words. Saves nothing and registers nothing. Addresses of the configuration obey OUTBOUND_POLICY. 20 checks in five minutes for each user (429).
         */
        post: operations["check_credentials_api_agent_channel_forms__type__check_credentials_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a change of a configuration
         * @description The faults for which updating the instance would be refused, per field. Stored secrets stand for those that the configuration leaves out; null takes one away. Saves nothing, and asks no platform.
         */
        post: operations["check_change_api_agent_channel_instances__instanceId__check_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/check-credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the credentials of an instance
         * @description Has the platform try the credentials, and answers in its words. Saves nothing and registers nothing. Addresses of the configuration obey OUTBOUND_POLICY. 20 checks in five minutes for each user (429). Stored secrets stand for those that `config` leaves out; null takes one away. Without `config` the stored configuration is tried: a webhook that the platform lost is registered again, and the result is noted in the health.
         */
        post: operations["check_stored_credentials_api_agent_channel_instances__instanceId__check_credentials_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Conversations of all instances, the latest first
         * @description The conversations of all of the caller's instances, an admin's: of everybody's, or of those that are named. Otherwise as the list of one instance.
         */
        get: operations["list_all_conversations_api_agent_conversations_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/conversations/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many conversations each view shows
         * @description Of the conversations that the caller sees, each view counted up to 1000.
         */
        get: operations["count_conversations_api_agent_conversations_counts_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Conversations, the latest first
         * @description The conversations of an instance with their latest message, and who has them. A search looks at some conversations for each page: a page may be short, even empty, while `next` leads on.
         */
        get: operations["list_conversations_api_agent_channel_instances__instanceId__conversations_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/conversations/{sessionId}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The messages of a conversation
         * @description What a person would see in the chat, in that order, with the state of each message. Files that we hold a copy of have a signed address that expires.
         */
        get: operations["list_messages_api_agent_channel_instances__instanceId__conversations__sessionId__messages_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/conversations/{sessionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Erase a conversation
         * @description Erases the texts and files of a conversation and all that is on record of it, at once and for good: messages in all states, notices, questions about tools, dead letters, events. What has not been sent is not sent.
         */
        delete: operations["erase_conversation_api_agent_channel_instances__instanceId__conversations__sessionId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Messages that were given up
         * @description The messages of both directions that were given up, the latest first, with the reason: messages of senders that could not be processed, and messages that the platform did not take.
         */
        get: operations["failed_messages_api_agent_channel_instances__instanceId__messages_get"];
        put?: never;
        /**
         * Send a message
         * @description Sends a message that answers none: to a known conversation (`sessionId`), to the platform's own address (`to`), or to the instance's default address. It is delivered as answers are. The same `Idempotency-Key` within 24 hours gives the same answer and sends nothing; 409 with another body. 409 too where the platform takes only templates now (WhatsApp, 24 hours after the person last wrote), and where another user has the conversation: see `takeOver`.
         */
        post: operations["send_message_api_agent_channel_instances__instanceId__messages_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/messages/{messageId}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a message again
         * @description Has a message processed again that was given up, with another request id, or sends its dead parts again. 409 for one that was not given up. An apology that was sent for it stays.
         */
        post: operations["rerun_message_api_agent_channel_instances__instanceId__messages__messageId__rerun_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/conversations/{sessionId}/handler": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Hand a conversation over
         * @description Gives a conversation to a person, or back to the resource. While a person has it, messages are stored and not given to the resource; each message of theirs begins the time anew. When it is over, the resource gets what nobody has answered. A message that the resource is working on is finished.
         */
        put: operations["set_handler_api_agent_channel_instances__instanceId__conversations__sessionId__handler_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/conversations/{sessionId}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Assign, snooze, close, open or label a conversation
         * @description Fields that are left out stay. Who has the conversation passes it on with the assignee: another user has it from then on; with a team or nobody it wants a person. A snoozed or closed conversation is open again once the person writes.
         */
        put: operations["change_conversation_api_agent_channel_instances__instanceId__conversations__sessionId__state_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/conversations/{sessionId}/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a note
         * @description A note stands among the messages of the conversation, for those who work on it: it is sent to nobody, and the resource does not get it. It is erased with the conversation.
         */
        post: operations["add_note_api_agent_channel_instances__instanceId__conversations__sessionId__notes_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/messages/{messageId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One message
         * @description A message of either direction: what it says, where it is, and why it failed or was given up.
         */
        get: operations["get_message_api_agent_channel_instances__instanceId__messages__messageId__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/messages/{messageId}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What happened to a message
         * @description The steps of a message in their order, with times, tries and reasons. The answer to a message is one of its own, with the same request id.
         */
        get: operations["get_timeline_api_agent_channel_instances__instanceId__messages__messageId__timeline_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Approvals
         * @description Those that you are asked for, yourself or with a team; for admins all. The latest first.
         */
        get: operations["list_approvals_api_agent_approvals_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/approvals/{approvalId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One approval
         * @description 403 for all but its approvers and admins.
         */
        get: operations["get_approval_api_agent_approvals__approvalId__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/approvals/{approvalId}/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve or reject the use of a tool
         * @description One decision counts: 409 names who decided before. The resource goes on at once, and the sender gets what it answers.
         */
        post: operations["decide_approval_api_agent_approvals__approvalId__decision_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/snippets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Snippets
         * @description Your own, those of your teams and those of all; ordered by id.
         */
        get: operations["list_snippets_api_agent_snippets_get"];
        put?: never;
        /**
         * Write a snippet
         * @description Your own, unless it is of a team that you are a member of, or of all.
         */
        post: operations["create_snippet_api_agent_snippets_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/snippets/{snippetId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One snippet
         * @description 404 for what belongs to others.
         */
        get: operations["get_snippet_api_agent_snippets__snippetId__get"];
        /**
         * Change a snippet
         * @description Fields that are left out stay. Snippets of all are changed by admins.
         */
        put: operations["change_snippet_api_agent_snippets__snippetId__put"];
        post?: never;
        /**
         * Delete a snippet
         * @description Messages that were sent with it stay as they are.
         */
        delete: operations["delete_snippet_api_agent_snippets__snippetId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What people think of answers, the latest vote first
         * @description Votes on the answers of all of the caller's instances, an admin's: of everybody's, or of those that are named. Each person has one vote on an answer, the latest.
         */
        get: operations["list_all_feedback_api_agent_feedback_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channel-instances/{instanceId}/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What people think of the answers of an instance
         * @description The latest vote first, with the question, the answer, and the passages that it stands on.
         */
        get: operations["list_feedback_api_agent_channel_instances__instanceId__feedback_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/feedback/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export feedback
         * @description The votes of the list as a file. In CSV a text that a spreadsheet would take for a formula begins with '.
         */
        get: operations["export_feedback_api_agent_feedback_export_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * People, the latest first
         * @description Who writes in the conversations of all instances that the caller sees. One entry for each person over all channels: conversations with the same proved identity, or of the same verified user, are joined by themselves. New senders appear within some seconds.
         */
        get: operations["list_people_api_agent_people_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/people/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Exports and erasures of people, the latest first
         * @description Those for the people of the caller's instances and those that the caller made; an admin's: all of them. They are listed for 90 days.
         */
        get: operations["list_privacy_requests_api_agent_people_requests_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/people/requests/{requestId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How far an export or an erasure is
         * @description With the address of the ZIP once an export is done.
         */
        get: operations["get_privacy_request_api_agent_people_requests__requestId__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/people/{personId}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Export a person
         * @description Writes all that is on record of a person into a ZIP of JSON and files, in the background. An export that is still open is answered with that one.
         */
        post: operations["export_person_api_agent_people__personId__export_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/people/{personId}/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase a person
         * @description Erases all conversations of a person, their exports and the person, in the background and for good. Repeated, it is answered with the same request, also when that is done. A person who writes again is a new one.
         */
        post: operations["erase_person_api_agent_people__personId__erase_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/people/{personId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A person
         * @description With up to 1000 of their conversations.
         */
        get: operations["get_person_api_agent_people__personId__get"];
        /**
         * Change a person
         * @description Sets name, language and labels by hand.
         */
        put: operations["change_person_api_agent_people__personId__put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/people/{personId}/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Merge other people into a person
         * @description Gives the person the conversations, identities and labels of the others, and a name and language that were set by hand where the person has none.
         */
        post: operations["merge_people_api_agent_people__personId__merge_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/people/{personId}/split": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Split conversations or identities from a person
         * @description Makes a new person of them. From then on neither of both is joined with anybody by itself.
         */
        post: operations["split_person_api_agent_people__personId__split_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's notifications, the latest first
         * @description Those that the caller may still see. The event `notification.created` tells of each new one.
         */
        get: operations["list_notifications_api_agent_notifications_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/notifications/unread": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many notifications are unread
         * @description For a badge.
         */
        get: operations["count_unread_api_agent_notifications_unread_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/notifications/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark notifications as read
         * @description Those with the ids, or all up to one. What is read by the time at which a mail or a message would go is not sent.
         */
        post: operations["mark_read_api_agent_notifications_read_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/me/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the caller has set for notifications
         * @description With all kinds.
         */
        get: operations["get_settings_api_agent_me_notifications_get"];
        /**
         * Set how the caller is notified
         * @description Replaces all settings. Mail needs an e-mail address of the user, and a mail server.
         */
        put: operations["set_settings_api_agent_me_notifications_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events as they happen, as Server-Sent Events
         * @description What happens to the caller's messages, deliveries, confirmations, instances, uploads and identities; an admin gets those of everybody. Ids grow, and order holds within a conversation. Comments every 15 seconds are signs of life. A reader that takes nothing is cut off, and goes on from the last id that it got. An event of kind `reset` stands where events between the cursor and it are gone: they are older than EVENT_DAYS. The `data` of each kind: `message.received` messageId, requestId, text, sender, files; `message.answered` messageId, inReplyTo, requestId, text, author; `message.failed` messageId, requestId, error; `message.feedback` rating, sender, messageId, inReplyTo, requestId, text, author, resource; `delivery.sent` messageId, deliveryId; `delivery.dead` messageId, deliveryId, reason; `confirmation.asked` confirmationId, messageId, tool, expiresAt; `confirmation.decided` confirmationId, messageId, tool, decision, decidedBy, decider; `conversation.handler` handler, minutes; `conversation.changed` assignee, labels, state, snoozedUntil, resource and messageId, or userId; `conversation.note` messageId, userId, mentions; `instance.health` healthy, activity, error; `upload.ready` and `upload.failed` knowledgeBaseId, files, error; `identity.verified` field, value; `budget.reached` budgetId, percent, month, userId, resourceId, amount, spent, currency; `notification.created` notificationId, notification, userId.
         */
        get: operations["watch_api_agent_events_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The agents that the caller may use
         * @description Ordered by id; an admin sees those of all users.
         */
        get: operations["list_agents_api_agent_agents_get"];
        put?: never;
        /**
         * Set up an agent
         * @description Stores how an agent is reached; secrets are kept encrypted. Instances can be bound to its `resourceId` at once. Its addresses obey the outbound policy, unless an admin marks it as trusted.
         */
        post: operations["create_api_agent_agents_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/agents/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One agent; needs READ
         * @description Without its secrets.
         */
        get: operations["get_api_agent_agents__agentId__get"];
        /**
         * Change an agent; needs UPDATE
         * @description Fields that are left out stay. A secret must be given again when the address changes. Takes effect in all processes at once.
         */
        put: operations["update_api_agent_agents__agentId__put"];
        post?: never;
        /**
         * Delete an agent; needs DELETE
         * @description Refused while instances are bound to it.
         */
        delete: operations["delete_api_agent_agents__agentId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/agents/{agentId}/trusted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Trust an agent, or trust it no longer
         * @description Lets the agent call addresses that the outbound policy forbids to users, such as one in the network of the service. Admins alone may. Trust ends when somebody else changes an address of the agent.
         */
        put: operations["set_trusted_api_agent_agents__agentId__trusted_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/agents/{agentId}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask an agent, and see what was sent; needs READ
         * @description Asks the agent for real, for 30 seconds at most, and shows each call and its answer without secrets.
         */
        post: operations["test_api_agent_agents__agentId__test_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/agents/{agentId}/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who may use an agent; needs DELETE
         * @description Users and teams, and their levels.
         */
        get: operations["list_permissions_api_agent_agents__agentId__permissions_get"];
        /**
         * Share an agent, or stop sharing it; needs DELETE
         * @description Gives a user or a team a level, or takes it away with 0.
         */
        put: operations["set_permission_api_agent_agents__agentId__permissions_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/event-subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's subscriptions
         * @description Ordered by id; an admin sees those of all users.
         */
        get: operations["list_subscriptions_api_agent_event_subscriptions_get"];
        put?: never;
        /**
         * Subscribe to events
         * @description Pushes events to an address from now on, each as a POST of its JSON, signed by Standard Webhooks with `secret` (webhook-id, webhook-timestamp, webhook-signature). Without `secret` one is made; it is shown in this answer alone. A push that is not answered with 2xx is sent again as replies are; after five days without success the subscription is switched off, and at once by 410.
         */
        post: operations["create_api_agent_event_subscriptions_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/event-subscriptions/{subscriptionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One subscription
         * @description With its health.
         */
        get: operations["get_api_agent_event_subscriptions__subscriptionId__get"];
        /**
         * Change a subscription, and switch it on or off
         * @description Changes the fields that are given. One that was switched off gets the events from now on; with the status off, one that was on gets no more.
         */
        put: operations["change_api_agent_event_subscriptions__subscriptionId__put"];
        post?: never;
        /**
         * Delete a subscription
         * @description Deletes it with all that is on its way.
         */
        delete: operations["remove_api_agent_event_subscriptions__subscriptionId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/event-subscriptions/{subscriptionId}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Push a trial event
         * @description Pushes an event of the kind `test` at once, and tells how the address answered.
         */
        post: operations["test_api_agent_event_subscriptions__subscriptionId__test_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/event-subscriptions/{subscriptionId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was pushed
         * @description The newest first.
         */
        get: operations["deliveries_api_agent_event_subscriptions__subscriptionId__deliveries_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/event-subscriptions/{subscriptionId}/deliveries/{pushId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Push an event again
         * @description Pushes an event again that was given up. 409 for one that was taken or is on its way.
         */
        post: operations["replay_api_agent_event_subscriptions__subscriptionId__deliveries__pushId__replay_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What runs by the clock
         * @description Firings and polls of the caller's instances (an admin's: of all), ordered by the ids of the instances.
         */
        get: operations["list_schedules_api_agent_schedules_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/schedules/{instanceId}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fire or poll now
         * @description Fires or polls once more as soon as a worker can, also where nothing is planned; the plan stays. While a run is under way, the next one begins when it has ended. 409 for an instance that does not run by the clock.
         */
        post: operations["run_api_agent_schedules__instanceId__run_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/resources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The rules of resources
         * @description What runs behind which resource ids, for admins. Tokens, and what may be secret in addresses, are left out.
         */
        get: operations["rules_api_agent_resources_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/resources/try": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a resource
         * @description Tells what takes a resource id, and with `ask` asks it for real, for 30 seconds at most. The resource gets a message of a new conversation of the channel `trial`; what it answers goes nowhere else. One trial of a user at a time, 8 of all.
         */
        post: operations["try_out_api_agent_resources_try_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * API keys
         * @description The caller's keys, or with `kind=session` the caller's sessions in browsers; an admin sees those of all users. Ordered by id; revoked and expired keys stay in the list, sessions that have ended do not.
         */
        get: operations["list_keys_api_agent_keys_get"];
        put?: never;
        /**
         * Create an API key
         * @description The key is shown in this answer alone, and ends with the key that makes it. Only an admin makes keys for other users, and with a role above their own. A key with scopes makes keys only if `admin` is among them.
         */
        post: operations["create_api_agent_keys_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description Ends the key or the session at once, with all sessions and keys that were made with it.
         */
        delete: operations["revoke_api_agent_keys__keyId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who calls
         * @description The user of the call, with what the call may do, and the teams.
         */
        get: operations["me_api_agent_me_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Users; for admins
         * @description Ordered by id. A user appears with the first key, or the first call of a service for them.
         */
        get: operations["list_users_api_agent_users_get"];
        put?: never;
        /**
         * Make a user; for admins
         * @description 409 where the id or the e-mail address is taken.
         */
        post: operations["create_user_api_agent_users_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/users/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One user; for admins
         * @description One user, with role and state.
         */
        get: operations["get_user_api_agent_users__userId__get"];
        /**
         * Change or suspend a user; for admins
         * @description Fields that are left out stay. Suspending ends all keys and sessions at once. 409 for the last admin.
         */
        put: operations["change_user_api_agent_users__userId__put"];
        post?: never;
        /**
         * Delete a user; for admins
         * @description Ends keys, sessions, permissions and memberships. 409 where they own something and `successor` is missing.
         */
        delete: operations["delete_user_api_agent_users__userId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/teams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Teams
         * @description Those that the caller is a member of, for an admin all; ordered by id.
         */
        get: operations["list_teams_api_agent_teams_get"];
        put?: never;
        /**
         * Make a team; for admins
         * @description 409 where the name is taken.
         */
        post: operations["create_team_api_agent_teams_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/teams/{teamId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One team
         * @description One team with its members, for them and for admins.
         */
        get: operations["get_team_api_agent_teams__teamId__get"];
        /**
         * Change a team
         * @description Admins change all of it, those who lead it its members, hours and text. Fields that are left out stay.
         */
        put: operations["change_team_api_agent_teams__teamId__put"];
        post?: never;
        /**
         * Delete a team; for admins
         * @description Its permissions end.
         */
        delete: operations["delete_team_api_agent_teams__teamId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Invitations; for admins
         * @description Open and accepted ones, ordered by id.
         */
        get: operations["list_invitations_api_agent_invitations_get"];
        put?: never;
        /**
         * Invite a person; for admins
         * @description For seven days, usable once. An open invitation of the same address ends. 409 for the address of a user.
         */
        post: operations["create_invitation_api_agent_invitations_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/invitations/{invitationId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Withdraw an open invitation; for admins
         * @description Its link is good for nothing any more.
         */
        delete: operations["revoke_invitation_api_agent_invitations__invitationId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's own passkeys
         * @description Ordered by id; at most 20.
         */
        get: operations["list_passkeys_api_agent_passkeys_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/passkeys/{passkeyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a passkey of one's own
         * @description It signs nobody in any more.
         */
        delete: operations["remove_passkey_api_agent_passkeys__passkeyId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/users/{userId}/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove all passkeys of a user, who lost them; for admins
         * @description The user signs in another way, and adds new ones.
         */
        delete: operations["reset_passkeys_api_agent_users__userId__passkeys_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who changed what, the latest first; for admins
         * @description Each entry was stored in the transaction of its change, and carries the hash of the one before.
         */
        get: operations["list_entries_api_agent_audit_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the audit log; for admins
         * @description The entries of the list as a file. In CSV a text that a spreadsheet would take for a formula begins with '.
         */
        get: operations["export_entries_api_agent_audit_export_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Messages that were given up, of all instances
         * @description The messages of both directions that were given up, with the reason, the latest first; an admin sees those of all users.
         */
        get: operations["list_dead_letters_api_agent_dead_letters_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/dead-letters/{instanceId}/{messageId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One dead letter
         * @description With the payload of each part that was given up. 404 for a message that is not given up.
         */
        get: operations["get_dead_letter_api_agent_dead_letters__instanceId___messageId__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/dead-letters/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Process or send dead letters again
         * @description Has messages of senders processed again, with another request id, and sends the dead parts of the others again. The answer says for each whether it was done; one that is refused keeps no other from it.
         */
        post: operations["replay_dead_letters_api_agent_dead_letters_replay_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/dead-letters/drop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drop dead letters
         * @description Gives messages up for good: they are listed no more, and cannot be replayed. A message of a sender stays in its conversation. The answer says for each whether it was done.
         */
        post: operations["drop_dead_letters_api_agent_dead_letters_drop_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/instance-health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The health of all instances
         * @description The health of the caller's instances with what to mend, what waits, and the limits of platforms that hold it up; ordered by id. An admin sees the instances of all users.
         */
        get: operations["list_health_api_agent_instance_health_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/figures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Messages received, answered and given up
         * @description How many messages were received, answered and given up, and how long answers took, of the caller's instances or of one; for an admin of all. A step counts what happened in it: an answer counts when the platform took it.
         */
        get: operations["get_figures_api_agent_figures_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/doctor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the installation lacks
         * @description The findings of `switchboard doctor`, from inside the running service: what is well, what is missing and how to mend it. For admins.
         */
        get: operations["list_findings_api_agent_doctor_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What happened on each day
         * @description Figures of the instances that the caller sees; an admin sees all, also those that are gone. Where nothing happened there is no row. In CSV a text that a spreadsheet would take for a formula begins with '.
         */
        get: operations["list_reports_api_agent_reports_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tokens, seconds and costs of agents
         * @description Sums over the caller's instances, an admin's: over all. Sums in different currencies stay apart. In CSV a text that a spreadsheet would take for a formula begins with '.
         */
        get: operations["list_usage_api_agent_usage_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Budgets of the month
         * @description Those of the caller, of the instances that the caller may see, and of the caller's agents, with what is spent of them this month; ordered by id. An admin sees all.
         */
        get: operations["list_budgets_api_agent_budgets_get"];
        /**
         * Set a budget
         * @description Sets what a user, an instance or an agent may take in a calendar month (UTC), in place of its budget in the same unit. At 80 % there is an event; at 100 % the agent is not asked any more, and senders read why. What was spent earlier this month counts.
         */
        put: operations["set_budget_api_agent_budgets_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/budgets/{budgetId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a budget
         * @description The agent is asked again within seconds. One that an admin has set is deleted by admins alone.
         */
        delete: operations["delete_budget_api_agent_budgets__budgetId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which ways of verification this server offers (no key needed)
         * @description Which ways of verification this server is set up for.
         */
        get: operations["providers_api_agent_verification_providers_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's verified identities
         * @description The verified identities of the caller.
         */
        get: operations["identities_api_agent_verification_identities_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/identities/{field}/{value}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove one of the caller's verified identities
         * @description Removes one of the caller's identities. The value may hold slashes.
         */
        delete: operations["remove_identity_api_agent_verification_identities__field___value__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/start-email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a 6-digit code to a mail address
         * @description Sends a code of 6 digits that is valid for 600 seconds. At most five an hour for each address (429).
         */
        post: operations["start_email_api_agent_verification_start_email_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/verify-email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify the address with the code
         * @description Verifies the address that the code was sent to. Five wrong tries void a code.
         */
        post: operations["verify_email_api_agent_verification_verify_email_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/start-bot-messenger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A link that opens the verification bot
         * @description Gives a link to the verification bot that is valid for 300 seconds.
         */
        post: operations["start_bot_messenger_api_agent_verification_start_bot_messenger_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/bot-messenger-bot-webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Called by the messenger platform for the verification bot
         * @description Called by Telegram for the verification bot, with the secret token that was registered (401 otherwise).
         */
        post: operations["bot_webhook_api_agent_verification_bot_messenger_bot_webhook_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/bot-messenger-callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A contact was shared with the bot (internal service key)
         * @description Stores the three identities that a shared contact proves. Needs the internal service key (403 otherwise); the token names the user.
         */
        post: operations["bot_callback_api_agent_verification_bot_messenger_callback_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/start-workspace-chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Where to send the browser to verify a workspace-chat identity
         * @description Gives the address of the provider to open in a browser. The provider sends the browser back to `/api/agent/verification/callback/{provider}` within 600 seconds. 400 where the provider is not set up.
         */
        post: operations["start_workspace_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/start-gaming-chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Where to send the browser to verify a gaming-chat identity
         * @description Gives the address of the provider to open in a browser. The provider sends the browser back to `/api/agent/verification/callback/{provider}` within 600 seconds. 400 where the provider is not set up.
         */
        post: operations["start_gaming_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/start-community-chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Where to send the browser to verify a community-chat identity
         * @description Gives the address of the provider to open in a browser. The provider sends the browser back to `/api/agent/verification/callback/{provider}` within 600 seconds. 400 where the provider is not set up.
         */
        post: operations["start_community_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/start-enterprise-chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Where to send the browser to verify a enterprise-chat identity
         * @description Gives the address of the provider to open in a browser. The provider sends the browser back to `/api/agent/verification/callback/{provider}` within 600 seconds. 400 where the provider is not set up.
         */
        post: operations["start_enterprise_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/verification/callback/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * OAuth redirect of a provider (no key needed)
         * @description Reached by the browser from the provider, with `state` and `code`. Answers with a page that tells its opener the outcome and closes.
         */
        get: operations["callback_api_agent_verification_callback__provider__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/upload-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What one upload may bring
         * @description The largest file, the most files, and the formats that this installation reads.
         */
        get: operations["upload_rules_api_agent_kb_upload_rules_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/file-states": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How far the files of a knowledge base are
         * @description The files without their texts, the newest first.
         */
        get: operations["list_states_api_agent_kb__id__file_states_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/files/{fileId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How far a file is
         * @description One file of a knowledge base without its text, by its hash.
         */
        get: operations["get_state_api_agent_kb__id__files__fileId__get"];
        put?: never;
        post?: never;
        /**
         * Delete a file, or cancel its upload; needs UPDATE
         * @description Deletes a file with its chunks. One that is being processed is cancelled: where its uploader waits for the answer, with all files of the upload. Needs level 2 (UPDATE).
         */
        delete: operations["delete_file_api_agent_kb__id__files__fileId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/files/{fileId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Process a file again that failed; needs UPDATE
         * @description Processes a file again that failed. 409 for one that did not. Needs level 2 (UPDATE).
         */
        post: operations["retry_file_api_agent_kb__id__files__fileId__retry_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/files/{fileId}/text": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A file's text with its chunks; query: limit (5), offset (0)
         * @description The stretch of the text in which `limit` chunks from `offset` on stand, and where they stand in it. The stretches of offsets that follow each other hold the whole text.
         */
        get: operations["read_text_api_agent_kb__id__files__fileId__text_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/search/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What a search finds, and why
         * @description The results of the search with both scores, ranks and highlights, then what only one of the two searches (by words, by meaning) found among its best.
         */
        post: operations["explain_search_api_agent_kb__id__search_explain_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/pages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read a web page or a sitemap into a knowledge base; needs UPDATE
         * @description Has a web page, the pages of a sitemap, or a file at a web address read in the background, with `every` again after so many minutes. An address that the base reads already gets the new interval, and is read now. Needs UPDATE (level 2).
         */
        post: operations["add_pages_api_agent_kb__id__pages_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The sources of a knowledge base
         * @description Web pages, sitemaps and folders that are read into the base, the newest first, with what came of it.
         */
        get: operations["list_sources_api_agent_kb__id__sources_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/sources/{sourceId}/pages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The pages of a source; query: state
         * @description The pages or files of a source in the order in which they are read, and why some are not.
         */
        get: operations["list_pages_api_agent_kb__id__sources__sourceId__pages_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/sources/{sourceId}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read a source now; needs UPDATE
         * @description Begins the next pass at once, or as soon as one that is under way has ended. Needs level 2 (UPDATE).
         */
        post: operations["read_source_api_agent_kb__id__sources__sourceId__read_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/sources/{sourceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a source; query: keepFiles; needs UPDATE
         * @description Removes a source; its files are deleted in the background, unless `keepFiles` is true. 409 for a folder that a channel feeds. Needs level 2 (UPDATE).
         */
        delete: operations["remove_source_api_agent_kb__id__sources__sourceId__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/download/{fileId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A file's bytes; single ranges are served
         * @description The bytes of a file, as an attachment. Serves single ranges and `If-None-Match`.
         */
        get: operations["download_api_agent_kb_download__fileId__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/file/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A file's record, by its hash
         * @description The record of a file, by its hash.
         */
        get: operations["get_file_api_agent_kb_file__id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/file/{id}/text": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A file's text; query: limit (10,000 characters), offset (0)
         * @description At most 50,000 characters of the text of a file, by its hash. A file that cannot be found yet has none.
         */
        get: operations["read_text_api_agent_kb_file__id__text_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/chunk/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One chunk
         * @description One chunk, by its id.
         */
        get: operations["get_chunk_api_agent_kb_chunk__id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/chunks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A file's chunks, in document order; query: limit (5), offset (0)
         * @description The chunks of a file in the order of the document, by the file's hash.
         */
        get: operations["list_chunks_api_agent_kb_chunks__id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The files of a knowledge base
         * @description The records of the files, with their texts and states, ordered by id. Without parameters all of them with all fields; without the field `text` the answer is small.
         */
        get: operations["list_files_api_agent_kb__id__files_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/uploadfile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload files, all or none; needs UPDATE
         * @description Stores, parses, chunks and embeds files: all of them, or none. Answers once they can be found, or at once with `Prefer: respond-async` (202). Needs level 2 (UPDATE).
         */
        post: operations["upload_api_agent_kb__id__uploadfile_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The knowledge bases that the caller may access
         * @description The knowledge bases that the caller may access, with the caller's level on each.
         */
        get: operations["list_bases_api_agent_kb_get"];
        put?: never;
        /**
         * Create a knowledge base
         * @description Creates a knowledge base of the caller, who gets level 3 (DELETE) on it.
         */
        post: operations["create_base_api_agent_kb_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One knowledge base; needs READ
         * @description One knowledge base. Needs level 1 (READ).
         */
        get: operations["get_base_api_agent_kb__id__get"];
        /**
         * Rename or describe a knowledge base; needs UPDATE
         * @description Changes the name or the description. Needs level 2 (UPDATE).
         */
        put: operations["update_base_api_agent_kb__id__put"];
        post?: never;
        /**
         * Delete a knowledge base with its files and chunks; needs DELETE
         * @description Deletes the knowledge base with its files and chunks. Needs level 3 (DELETE).
         */
        delete: operations["delete_base_api_agent_kb__id__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who may use a knowledge base; needs DELETE
         * @description Who may use the knowledge base, at which level. Needs level 3 (DELETE).
         */
        get: operations["list_permissions_api_agent_kb__id__permissions_get"];
        /**
         * Share a knowledge base, or stop sharing it; needs DELETE
         * @description Gives a user or a team a level, or takes it away with 0. Needs level 3 (DELETE).
         */
        put: operations["set_permission_api_agent_kb__id__permissions_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search by words and by meaning; ten results unless more are asked for
         * @description Searches by words and by meaning and returns the best chunks. An unknown field is refused.
         */
        post: operations["search_base_api_agent_kb__id__search_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/kb/{id}/ask": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask a knowledge base; the answer cites its passages
         * @description Answers from the base by the model that a rule of RESOURCES_FILE puts behind `agent::kb-<id>`, else with the best passages. Each citation is a passage of the base. 503 where the model gives no answer.
         */
        post: operations["ask_base_api_agent_kb__id__ask_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/files/{token}/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A file of a message, by its signed, expiring address; needs no key
         * @description A file of a message. The signed token in the path is the only key; it expires. 404 for a token that is wrong or expired.
         */
        get: operations["download_api_agent_files__token___name__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/web-chat/{publicId}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a visitor sees, as Server-Sent Events
         * @description What is shown to the visitor of the token: events `message`, `removed`, `typing` and `cleared`, described in docs/channels/web-chat.md. Begins with the latest messages, or behind the cursor `after`, which is the id of the last event. Comments every 15 seconds are signs of life.
         */
        get: operations["stream_api_agent_web_chat__publicId__stream_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/web-chat/{publicId}/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open the chat of a web page
         * @description A visitor token, and how the panel looks. A valid token comes back as it is; nothing is stored.
         */
        post: operations["open_session_api_agent_web_chat__publicId__session_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/web-chat/{publicId}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a message as a visitor
         * @description Needs the visitor token as bearer token. The same `id` again is the same message.
         */
        post: operations["post_message_api_agent_web_chat__publicId__messages_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The process is up
         * @description Answers as long as the process runs.
         */
        get: operations["healthz_healthz_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The database takes writes and has the newest schema; a queue that is away is told
         * @description Looks at the database, the job queue and the schema. The database and the schema are needed; the queue may be degraded.
         */
        get: operations["readyz_readyz_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Prometheus metrics
         * @description Counters and timings in the text format of Prometheus.
         */
        get: operations["show_metrics_metrics_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent/channels/{type}/{instanceId}/{callback}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Webhook callback of a platform (any method)
         * @description The platform's own webhook, with any method. The proof of origin is the platform's own: a signature or token. The message is stored before it is acknowledged, and a redelivery is acknowledged and dropped.
         */
        get: operations["callback_get"];
        put?: never;
        /**
         * Webhook callback of a platform (any method)
         * @description The platform's own webhook, with any method. The proof of origin is the platform's own: a signature or token. The message is stored before it is acknowledged, and a redelivery is acknowledged and dropped.
         */
        post: operations["callback_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Accepted */
        Accepted: {
            /** Success */
            success: boolean;
            /** Message */
            message: string;
        };
        /** ActivityHealth */
        ActivityHealth: {
            /**
             * Healthy
             * @description False while the latest try failed and nothing made up for that.
             */
            healthy: boolean;
            /** Lastsuccess */
            lastSuccess: string | null;
            /** Lasterror */
            lastError: string | null;
            /** Lasterrorat */
            lastErrorAt: string | null;
        };
        /** Actor */
        Actor: {
            /**
             * Userid
             * @description Empty: a command on the server, or the service itself.
             */
            userId: string;
            /**
             * Keyid
             * @description The API key of the call.
             */
            keyId: number | null;
            /**
             * Sessionid
             * @description The session of the call.
             */
            sessionId: number | null;
            /**
             * Address
             * @description Where the call came from; empty where nobody knows.
             */
            address: string;
        };
        /** AddNote */
        AddNote: {
            /**
             * Text
             * @description `@name` names a user, by id or by name without blanks, or a team.
             */
            text: string;
        };
        /** AddPages */
        AddPages: {
            /**
             * Url
             * @description A web page, a sitemap or sitemap index (XML, also as .gz), or a file of a known format.
             */
            url: string;
            /**
             * Every
             * @description Minutes between two passes, 1 to 43200, fractions allowed; without it the page is read once.
             */
            every?: number | null;
        };
        /** Agent */
        Agent: {
            /** Id */
            id: number;
            /** Resourceid */
            resourceId: string;
            /** Name */
            name: string;
            /**
             * Owner
             * @description The user with whose rights it reads knowledge bases.
             */
            owner: string;
            /** Kind */
            kind: string;
            /** Knowledge */
            knowledge: number[];
            /**
             * Trusted
             * @description An admin lets it call addresses that the outbound policy forbids to users.
             */
            trusted: boolean;
            /**
             * Level
             * @description The caller's: 1 READ, 2 UPDATE, 3 DELETE.
             */
            level: number;
            /**
             * Fault
             * @description Why it cannot be used; empty where it can.
             */
            fault: string;
            /** Createdat */
            createdAt: string;
            /** Updatedat */
            updatedAt: string;
            /** Hassecret */
            hasSecret: boolean;
            prices: components["schemas"]["AgentPrices"] | null;
            /** Approvalpolicy */
            approvalPolicy: components["schemas"]["ApprovalRule"][];
            /**
             * Settings
             * @description null for callers with READ alone.
             */
            settings: {
                [key: string]: unknown;
            } | null;
            /** Tools */
            tools: {
                [key: string]: unknown;
            }[] | null;
            /** Mcpservers */
            mcpServers: {
                [key: string]: unknown;
            }[] | null;
        };
        /** AgentBody */
        AgentBody: {
            /** Name */
            name?: string | null;
            /**
             * Resourceid
             * @description agent::<slug>: what instances are bound to. One is made of the name where it is left out.
             */
            resourceId?: string | null;
            /**
             * Kind
             * @description As the kind of a rule: http, grpc, chat-completions, ...; may be left out where settings name a preset.
             */
            kind?: string | null;
            /**
             * Settings
             * @description The keys of a rule of that kind, in camel case.
             */
            settings?: {
                [key: string]: unknown;
            } | null;
            /**
             * Secret
             * @description The token that the agent is called with; never shown again. An empty text or null removes it; left out, it stays.
             */
            secret?: string | null;
            /**
             * Knowledge
             * @description Ids of the knowledge bases that a model may search.
             */
            knowledge?: number[] | null;
            /**
             * Tools
             * @description Endpoints that a model may use: the keys of [[rule.tool]] in camel case, and `secret`.
             */
            tools?: {
                [key: string]: unknown;
            }[] | null;
            /**
             * Mcpservers
             * @description MCP servers whose tools a model may use: the keys of [[rule.mcp_server]] in camel case, and `secret`. A header with null keeps its stored value.
             */
            mcpServers?: {
                [key: string]: unknown;
            }[] | null;
            /** @description What the test reckons with, and later the usage. */
            prices?: components["schemas"]["AgentPrices"] | null;
            /**
             * Approvalpolicy
             * @description Tools of a model for whose use somebody decides, whatever they say themselves.
             */
            approvalPolicy?: components["schemas"]["ApprovalRule"][] | null;
        };
        /** AgentExchange */
        AgentExchange: {
            /** Method */
            method: string;
            /** Url */
            url: string;
            /** Requestheaders */
            requestHeaders: {
                [key: string]: string;
            };
            /** Requestbody */
            requestBody: string;
            /**
             * Status
             * @description 0: there was no answer.
             */
            status: number;
            /** Responseheaders */
            responseHeaders: {
                [key: string]: string;
            };
            /**
             * Responsebody
             * @description At most the first 20,000 characters, as of the request.
             */
            responseBody: string;
            /** Error */
            error: string;
            /** Seconds */
            seconds: number;
        };
        /** AgentList */
        AgentList: {
            /** Agents */
            agents: components["schemas"]["Agent"][];
            /** Next */
            next: number | null;
        };
        /** AgentPermission */
        AgentPermission: {
            /**
             * Userid
             * @description Null for a team.
             */
            userId: string | null;
            /**
             * Teamid
             * @description Present only for a team.
             */
            teamId?: number | null;
            /** Level */
            level: number;
        };
        /** AgentPermissionBody */
        AgentPermissionBody: {
            /**
             * Userid
             * @description Either a user or a team.
             */
            userId?: string | null;
            /** Teamid */
            teamId?: number | null;
            /**
             * Level
             * @description 0 revokes, 1 READ, 2 UPDATE, 3 DELETE.
             */
            level: number;
        };
        /** AgentPermissions */
        AgentPermissions: {
            /** Permissions */
            permissions: components["schemas"]["AgentPermission"][];
        };
        /** AgentPrices */
        AgentPrices: {
            /**
             * Input
             * @description Of a million tokens that the model reads.
             */
            input: number;
            /**
             * Output
             * @description Of a million tokens that it writes.
             */
            output: number;
            /** Currency */
            currency: string;
        };
        /** AgentTest */
        AgentTest: {
            answer: components["schemas"]["TrialAnswer"];
            /**
             * Exchanges
             * @description The calls that were made, in order, without secrets; none for callers with READ alone.
             */
            exchanges: components["schemas"]["AgentExchange"][];
            /**
             * Cost
             * @description By the agent's prices; null without them, or without a usage.
             */
            cost: number | null;
        };
        /** AgentTrust */
        AgentTrust: {
            /** Trusted */
            trusted: boolean;
        };
        /** Alive */
        Alive: {
            /**
             * Status
             * @constant
             */
            status: "ok";
        };
        /** Approval */
        Approval: {
            /** Id */
            id: number;
            /**
             * State
             * @description `expired`: nobody decided in time; the tool is not used.
             * @enum {string}
             */
            state: "waiting" | "approved" | "rejected" | "expired";
            /** Tool */
            tool: string;
            /** Parameters */
            parameters: {
                [key: string]: unknown;
            };
            /**
             * Approver
             * @description Who decides, beside admins: user:ID or team:ID.
             */
            approver: string;
            /**
             * Resource
             * @description Who wants to use the tool.
             */
            resource: string;
            /** Instanceid */
            instanceId: number;
            /** Sessionid */
            sessionId: string;
            /**
             * Messageid
             * @description The message that led to it.
             */
            messageId: string;
            /**
             * Sender
             * @description Who wrote that message.
             */
            sender: string;
            /**
             * Text
             * @description Its text.
             */
            text: string;
            /** Askedat */
            askedAt: string;
            /** Expiresat */
            expiresAt: string;
            /**
             * Decidedby
             * @description The user who decided; empty if nobody has.
             */
            decidedBy: string;
            /** Decidedat */
            decidedAt: string | null;
            /** Reason */
            reason: string;
        };
        /** ApprovalList */
        ApprovalList: {
            /** Approvals */
            approvals: components["schemas"]["Approval"][];
            /** Next */
            next: number | null;
        };
        /**
         * ApprovalRule
         * @description A rule of an approval policy.
         */
        ApprovalRule: {
            /**
             * Tool
             * @description A glob over names of tools.
             */
            tool: string;
            /**
             * By
             * @description Who decides: sender, who wrote the message, user:ID or team:ID.
             * @default sender
             */
            by?: string;
            /**
             * Minutes
             * @description How long a user or a team has, at most 10080; 1440 if it is left out.
             */
            minutes?: number | null;
        };
        /**
         * ApprovalState
         * @description Which approvals a list holds.
         * @enum {string}
         */
        ApprovalState: "waiting" | "decided";
        /** AskAnswer */
        AskAnswer: {
            /**
             * Answer
             * @description Markdown with marks such as [1].
             */
            answer: string;
            /** Citations */
            citations: components["schemas"]["Citation"][];
            /**
             * Searched
             * @description False where a model answered without a search: nothing in the base bears the answer out.
             */
            searched: boolean;
        };
        /** AskRequest */
        AskRequest: {
            /** Question */
            question: string;
            /**
             * History
             * @description What was said before, the oldest first.
             */
            history?: components["schemas"]["AskTurn"][];
        };
        /** AskTurn */
        AskTurn: {
            /**
             * Role
             * @enum {string}
             */
            role: "user" | "assistant";
            /** Content */
            content: string;
        };
        /** AuditEntry */
        AuditEntry: {
            /** Id */
            id: number;
            /** At */
            at: string;
            actor: components["schemas"]["Actor"];
            /** Action */
            action: string;
            /** Object */
            object: string;
            /**
             * Result
             * @description done, or refused.
             */
            result: string;
            /**
             * Data
             * @description What changed; secrets as `changed`.
             */
            data: {
                [key: string]: unknown;
            };
            /** Requestid */
            requestId: string;
            /**
             * Hash
             * @description SHA-256 over this entry and `previous`, in hexadecimal.
             */
            hash: string;
            /**
             * Previous
             * @description The hash of the entry before; empty for the first one.
             */
            previous: string;
        };
        /** AuditLog */
        AuditLog: {
            /** Entries */
            entries: components["schemas"]["AuditEntry"][];
            /** Next */
            next: number | null;
        };
        /** AuthUrl */
        AuthUrl: {
            /** Success */
            success: boolean;
            /** Authurl */
            authUrl: string;
        };
        /** Backlog */
        Backlog: {
            /**
             * Waitingseconds
             * @description Age of the oldest message that waits to be processed.
             */
            waitingSeconds: number;
            /**
             * Pendingseconds
             * @description Age of the oldest message that waits to be sent.
             */
            pendingSeconds: number;
        };
        /** BotCallback */
        BotCallback: {
            /** Token */
            token: string;
            /** Bot Messenger Id */
            bot_messenger_id: string | number;
            /** Phone */
            phone: string | number;
        };
        /** BotLinkAnswer */
        BotLinkAnswer: {
            /** Success */
            success: boolean;
            /** Deeplink */
            deepLink: string;
            /** Expiresinseconds */
            expiresInSeconds: number;
            /** Message */
            message: string;
        };
        /** BotVerified */
        BotVerified: {
            /** Success */
            success: boolean;
            /** Message */
            message: string;
            /** Userid */
            userId: string;
        };
        /** BudgetBody */
        BudgetBody: {
            /**
             * Userid
             * @description The budget of a user; admins alone may set it.
             */
            userId?: string | null;
            /**
             * Instanceid
             * @description The budget of an instance.
             */
            instanceId?: number | null;
            /**
             * Resourceid
             * @description The budget of an agent, all of its experts together.
             */
            resourceId?: string | null;
            /**
             * Tokens
             * @description Tokens a month, read and written together.
             */
            tokens?: number | null;
            /**
             * Cost
             * @description Money a month, in `currency`.
             */
            cost?: number | null;
            /** Currency */
            currency?: string | null;
        };
        /** BudgetList */
        BudgetList: {
            /** Budgets */
            budgets: components["schemas"]["BudgetRecord"][];
            /** Next */
            next: number | null;
        };
        /** BudgetRecord */
        BudgetRecord: {
            /** Id */
            id: number;
            /** Userid */
            userId: string | null;
            /** Instanceid */
            instanceId: number | null;
            /** Resourceid */
            resourceId: string | null;
            /**
             * Tokens
             * @description A month; null for a budget of money.
             */
            tokens: number | null;
            /**
             * Cost
             * @description A month; null for a budget of tokens.
             */
            cost: number | null;
            /** Currency */
            currency: string | null;
            /**
             * Byadmin
             * @description An admin has set it: nobody else may change it.
             */
            byAdmin: boolean;
            /** Createdby */
            createdBy: string;
            /** Updatedat */
            updatedAt: string;
            /**
             * Month
             * @description The month that `spent` is of, in UTC.
             */
            month: string;
            /**
             * Spent
             * @description This month: tokens, or money.
             */
            spent: number;
            /**
             * Percent
             * @description `spent` in percent of the budget.
             */
            percent: number;
        };
        /** ChangeConversation */
        ChangeConversation: {
            /**
             * Assignee
             * @description `user:ID` (of somebody who may answer here), `team:` with an id or a name, or `me`; null for nobody.
             */
            assignee?: string | null;
            state?: components["schemas"]["ConversationState"] | null;
            /**
             * Snoozeduntil
             * @description When a snoozed conversation is open again, at most a year from now; required with `snoozed`.
             */
            snoozedUntil?: string | null;
            /**
             * Labels
             * @description All labels from then on; at most 50.
             */
            labels?: string[] | null;
        };
        /** ChangeSnippet */
        ChangeSnippet: {
            /** Name */
            name?: string | null;
            /** Text */
            text?: string | null;
        };
        /** ChangeSubscription */
        ChangeSubscription: {
            /**
             * Kinds
             * @description Kinds of events; without it all.
             */
            kinds?: string[] | null;
            /**
             * Instanceids
             * @description Instances of the caller; without it all.
             */
            instanceIds?: number[] | null;
            /**
             * Secret
             * @description whsec_ and 24 to 64 bytes in base64.
             */
            secret?: string | null;
            /** Url */
            url?: string | null;
            /**
             * Status
             * @description off switches it off; else it is switched on.
             */
            status?: ("active" | "off") | null;
        };
        /** ChangeTeam */
        ChangeTeam: {
            /** Name */
            name?: string | null;
            /**
             * Members
             * @description All members from then on.
             */
            members?: components["schemas"]["MemberToSave"][] | null;
            /** @description null: the team has no hours any more. */
            hours?: components["schemas"]["RouteHoursToSave"] | null;
            /**
             * Awaytext
             * @description Sent once to those who want a person outside of the hours; empty: nothing is.
             */
            awayText?: string | null;
        };
        /** ChangeUser */
        ChangeUser: {
            /** Name */
            name?: string | null;
            /** Email */
            email?: string | null;
            /** Role */
            role?: ("responder" | "member" | "admin") | null;
            /**
             * State
             * @description Suspending ends all keys and sessions of the user.
             */
            state?: ("active" | "suspended") | null;
        };
        /** ChannelDefinition */
        ChannelDefinition: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Description */
            description: string;
            /**
             * Configdefinition
             * @description JSON text of an array of fields, each with name, type, description, required.
             */
            configDefinition: string;
            /** Type */
            type: string;
            setupInstructions: components["schemas"]["SetupInstructions"];
        };
        /** ChannelForm */
        ChannelForm: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Fields */
            fields: components["schemas"]["ConfigFieldAnswer"][];
            /**
             * Advice
             * @description Of each entry at least one list of fields should be given in full.
             */
            advice: string[][][];
            /**
             * Withoutpublicaddress
             * @description How it works where the platform cannot call this server; empty where it does not.
             */
            withoutPublicAddress: string;
            /**
             * Checkscredentials
             * @description Whether the platform can be asked about the credentials.
             */
            checksCredentials: boolean;
        };
        /** ChannelInstance */
        ChannelInstance: {
            /** Id */
            id: number;
            /** Channelid */
            channelId: string;
            /** Channelname */
            channelName: string;
            /** Downstreamresourceid */
            downStreamResourceId: string | null;
            /** Config */
            config: {
                [key: string]: unknown;
            };
            /** Userid */
            userId: string;
            /**
             * Status
             * @constant
             */
            status: "active";
            /** Channeltype */
            channelType: string;
            /** Channeltypename */
            channelTypeName: string;
            /**
             * Trusted
             * @description An admin takes the owner's word for who the senders are.
             */
            trusted: boolean;
            /**
             * Permissionlevel
             * @description Present only with `scope`: 1 VIEW, 2 ANSWER, 3 MANAGE. Below 3 secrets are masked.
             */
            permissionLevel?: number | null;
            /**
             * Publicid
             * @description Present only for web-chat: by it web pages name the instance.
             */
            publicId?: string | null;
            /**
             * Embedtag
             * @description Present only for web-chat: the tag for web pages.
             */
            embedTag?: string | null;
            /**
             * Routes
             * @description Present only where there are some.
             */
            routes?: components["schemas"]["Route"][];
            /**
             * Fallback
             * @description Present only where it is set.
             */
            fallback?: string[];
            /**
             * Feedback
             * @description Present only where it is true: people are asked whether an answer helped.
             */
            feedback?: boolean;
            /**
             * Approvalpolicy
             * @description Present only where it is set: who decides before a tool is used.
             */
            approvalPolicy?: components["schemas"]["ApprovalRule"][];
        };
        /** ChannelStatus */
        ChannelStatus: {
            /** Success */
            success: boolean;
            /**
             * Connectedchannels
             * @description By instance id.
             */
            connectedChannels: {
                [key: string]: components["schemas"]["Socket"];
            };
            /** Timestamp */
            timestamp: string;
        };
        /** ChatMessageTaken */
        ChatMessageTaken: {
            /** Id */
            id: string;
        };
        /** ChatSession */
        ChatSession: {
            /**
             * Visitor
             * @description The token for all further calls, to be kept in the browser.
             */
            visitor: string;
            /** Title */
            title: string;
            /** Greeting */
            greeting: string;
            /** Colour */
            colour: string;
            /**
             * Maxfilebytes
             * @description Of all files of a message.
             */
            maxFileBytes: number;
            /**
             * Maxtextlength
             * @description In characters.
             */
            maxTextLength: number;
        };
        /** ChoiceToSend */
        ChoiceToSend: {
            /**
             * Label
             * @description What the button shows.
             */
            label: string;
            /**
             * Value
             * @description Comes back as the text. Default: the label.
             * @default
             */
            value?: string;
        };
        /** ChosenDeadLetters */
        ChosenDeadLetters: {
            /** Items */
            items: components["schemas"]["DeadLetterName"][];
        };
        /** Chunk */
        Chunk: {
            /** Chunkid */
            chunkId: string;
            /** Userid */
            userId: string;
            /** Chunk */
            chunk: string;
            /** Fileid */
            fileId: string;
            /** Metadata */
            metadata: string | null;
            /** Createdat */
            createdAt: string;
        };
        /** ChunkAnswer */
        ChunkAnswer: {
            chunk: components["schemas"]["Chunk"];
        };
        /** ChunkList */
        ChunkList: {
            /** Chunks */
            chunks: components["schemas"]["Chunk"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** ChunkPlace */
        ChunkPlace: {
            /** Chunkid */
            chunkId: string;
            /** Position */
            position: number;
            /**
             * Start
             * @description First character in the whole text.
             */
            start: number | null;
            /**
             * End
             * @description The character behind the last.
             */
            end: number | null;
            /** Metadata */
            metadata: string | null;
        };
        /** Citation */
        Citation: {
            /**
             * Index
             * @description The number in the answer: 1 for [1].
             */
            index: number;
            /** Chunkid */
            chunkId: string;
            /** Filename */
            fileName: string;
            /** Page */
            page: number | null;
            /**
             * Quote
             * @description A stretch of the chunk, word for word.
             */
            quote: string;
        };
        /** CitedPassage */
        CitedPassage: {
            /**
             * Index
             * @description Its number in the answer.
             */
            index: number;
            /** Chunkid */
            chunkId: string;
            /** Filename */
            fileName: string;
            /** Page */
            page: number | null;
            /**
             * Quote
             * @description A stretch of the passage.
             */
            quote: string;
            /**
             * Place
             * @description Where it stands; empty where that is not known.
             */
            place: string;
        };
        /** CodeSent */
        CodeSent: {
            /** Success */
            success: boolean;
            /** Expiresinseconds */
            expiresInSeconds: number;
            /** Message */
            message: string;
        };
        /** ConfigFaults */
        ConfigFaults: {
            /**
             * Faults
             * @description What saving would refuse; empty where it would not.
             */
            faults: components["schemas"]["FieldFault"][];
        };
        /** ConfigFieldAnswer */
        ConfigFieldAnswer: {
            /** Name */
            name: string;
            /**
             * Type
             * @enum {string}
             */
            type: "string" | "number" | "boolean";
            /** Description */
            description: string;
            /** Required */
            required: boolean;
            /**
             * Secret
             * @description A password, key or token.
             */
            secret: boolean;
            /**
             * Basic
             * @description Shown without asking for more settings.
             */
            basic: boolean;
            /**
             * Format
             * @description A rule of the value besides its type, such as `url` or `port`.
             */
            format: string;
            /**
             * Choices
             * @description The values that are allowed; empty for any.
             */
            choices: string[];
            /**
             * Suggested
             * @description What a form for a new instance proposes.
             */
            suggested: string;
        };
        /** ConfigToCheck */
        ConfigToCheck: {
            /** Config */
            config: {
                [key: string]: unknown;
            };
            /**
             * Channelname
             * @description Left out: not checked.
             */
            channelName?: string | null;
            /** Downstreamresourceid */
            downStreamResourceId?: string | null;
        };
        /** Conversation */
        Conversation: {
            /** Instanceid */
            instanceId: number;
            /** Channelid */
            channelId: string;
            /** Channelname */
            channelName: string;
            /** Sessionid */
            sessionId: string;
            /** @description Who wrote last. */
            sender: components["schemas"]["ConversationSender"];
            /**
             * Lasttext
             * @description The beginning of the latest message.
             */
            lastText: string;
            /** Lastat */
            lastAt: string;
            /**
             * Messages
             * @description Counted up to 1000.
             */
            messages: number;
            /**
             * Waiting
             * @description Whether messages of the sender have no answer yet.
             */
            waiting: boolean;
            /**
             * Handler
             * @enum {string}
             */
            handler: "resource" | "person";
            /**
             * Handleruntil
             * @description Until when a person has the conversation; null where the resource has it.
             */
            handlerUntil: string | null;
            /**
             * Handledby
             * @description The user who took it over; null where the resource has it, or asked for a person.
             */
            handledBy: string | null;
            /**
             * Pendingconfirmation
             * @description Whether a question about a tool is open.
             */
            pendingConfirmation: boolean;
            /**
             * Assignee
             * @description Who is responsible for it: `user:ID` or `team:ID`; null for nobody.
             */
            assignee: string | null;
            /** Labels */
            labels: string[];
            /** @description A closed or snoozed one is open again once the person writes. */
            state: components["schemas"]["ConversationState"];
            /**
             * Snoozeduntil
             * @description When a snoozed conversation is open again; null where it is not snoozed.
             */
            snoozedUntil: string | null;
            /**
             * Wantsperson
             * @description Whether a person is asked for, and nobody has taken it over.
             */
            wantsPerson: boolean;
        };
        /** ConversationList */
        ConversationList: {
            /**
             * Conversations
             * @description A page of a search may hold fewer than the limit, even none, while others follow.
             */
            conversations: components["schemas"]["Conversation"][];
            /**
             * Next
             * @description The cursor of the next page; null on the last one.
             */
            next: string | null;
        };
        /** ConversationMessage */
        ConversationMessage: {
            /** Id */
            id: string;
            /** Sessionid */
            sessionId: string;
            /**
             * Direction
             * @description A note is read by those who work on the conversation alone; it is never sent.
             * @enum {string}
             */
            direction: "in" | "out" | "note";
            /** Text */
            text: string;
            /** Files */
            files: components["schemas"]["MessageFile"][];
            /**
             * Author
             * @enum {string}
             */
            author: "sender" | "resource" | "person" | "system";
            /**
             * Status
             * @description Inbound: waiting, done or failed. Outbound: queued, sent, delivered, read or dead.
             * @enum {string}
             */
            status: "waiting" | "done" | "failed" | "queued" | "sent" | "delivered" | "read" | "dead";
            /**
             * Error
             * @description Why it failed or was given up.
             */
            error: string | null;
            /** Requestid */
            requestId: string;
            /** At */
            at: string;
            /**
             * Sendername
             * @description Who wrote an inbound message, where the platform tells it; else empty.
             */
            senderName: string;
            /**
             * Resource
             * @description Of an answer: the resource that made it, where one did.
             */
            resource?: string | null;
            /**
             * Route
             * @description Of an answer: why that resource was asked, where it is not the instance's own.
             */
            route?: string | null;
            /**
             * Userid
             * @description Of a note: who wrote it.
             */
            userId?: string | null;
            /**
             * Mentions
             * @description Of a note: whom it names by `@name`, as `user:ID` or `team:ID`.
             */
            mentions?: string[];
        };
        /** ConversationSender */
        ConversationSender: {
            /**
             * Externalid
             * @description The platform's id; empty where nobody has written yet.
             */
            externalId: string;
            /** Displayname */
            displayName: string;
            /**
             * Userid
             * @description The platform user, where the instance identifies its senders.
             */
            userId: string | null;
        };
        /**
         * ConversationState
         * @description A snoozed conversation is open again at its time; a message of the person opens a snoozed or closed one.
         * @enum {string}
         */
        ConversationState: "open" | "snoozed" | "closed";
        /** Cooldown */
        Cooldown: {
            /**
             * Seconds
             * @description For how long nothing is sent with the account.
             */
            seconds: number;
            /**
             * Conversations
             * @description Conversations in which nothing is sent for a while.
             */
            conversations: number;
        };
        /** CreateInstance */
        CreateInstance: {
            /**
             * Routes
             * @description At most 20: messages for which `when` holds go to the resource `to`; the first that fits.
             */
            routes?: components["schemas"]["RouteToSave"][] | null;
            /**
             * Fallback
             * @description At most 5 resource ids, asked in turn where a resource fails.
             */
            fallback?: string[] | null;
            /**
             * Feedback
             * @description Ask people whether an answer helped.
             */
            feedback?: boolean | null;
            /**
             * Approvalpolicy
             * @description At most 50 rules: who decides before a tool is used; of each tool the first that fits.
             */
            approvalPolicy?: components["schemas"]["ApprovalRule"][] | null;
            /**
             * Channelid
             * @description Channel definition id.
             */
            channelId: string;
            /**
             * Channelname
             * @description Display name.
             */
            channelName: string;
            /** Config */
            config: {
                [key: string]: unknown;
            };
            /** Downstreamresourceid */
            downStreamResourceId?: string | null;
            /**
             * Id
             * @description Names an instance of the caller: that one is updated.
             */
            id?: number | null;
        };
        /** CreateInvitation */
        CreateInvitation: {
            /** Email */
            email: string;
            /**
             * Role
             * @default member
             * @enum {string}
             */
            role?: "responder" | "member" | "admin";
            /**
             * Teams
             * @description Ids of teams; at most 50.
             * @default []
             */
            teams?: number[];
        };
        /** CreateKey */
        CreateKey: {
            /**
             * Name
             * @description What the key is for.
             */
            name?: string | null;
            /**
             * Role
             * @default member
             * @enum {string}
             */
            role?: "responder" | "member" | "admin";
            /**
             * Scopes
             * @description What the key may be used for; without it, for all that its user may do.
             */
            scopes?: ("instances:read" | "instances:write" | "conversations:read" | "messages:send" | "knowledge:read" | "knowledge:write" | "events:read" | "agents:write" | "admin")[] | null;
            /**
             * Userid
             * @description The user whom it stands for; without it the caller. Another one only by an admin.
             */
            userId?: string | null;
            /**
             * Expiresindays
             * @description Not longer than the key lives that makes it; without it the key ends with that one.
             */
            expiresInDays?: number | null;
        };
        /** CreateKnowledgeBase */
        CreateKnowledgeBase: {
            /** Name */
            name: string;
            /** Description */
            description?: string | null;
            /**
             * Kb Manifest
             * @description Default: { files: [] }.
             */
            kb_manifest?: {
                [key: string]: unknown;
            } | null;
        };
        /** CreateSnippet */
        CreateSnippet: {
            /** Name */
            name: string;
            /**
             * Text
             * @description Markdown; `{{name}}` stands for the name of the person who gets it.
             */
            text: string;
            /**
             * Teamid
             * @description Of this team; without it your own.
             */
            teamId?: number | null;
            /**
             * Forall
             * @description Of all; for admins.
             * @default false
             */
            forAll?: boolean;
        };
        /** CreateSubscription */
        CreateSubscription: {
            /**
             * Kinds
             * @description Kinds of events; without it all.
             */
            kinds?: string[] | null;
            /**
             * Instanceids
             * @description Instances of the caller; without it all.
             */
            instanceIds?: number[] | null;
            /**
             * Secret
             * @description whsec_ and 24 to 64 bytes in base64.
             */
            secret?: string | null;
            /**
             * Url
             * @description The address that events are pushed to.
             */
            url: string;
        };
        /** CreateTeam */
        CreateTeam: {
            /** Name */
            name: string;
            /**
             * Members
             * @description At most 500.
             * @default []
             */
            members?: components["schemas"]["MemberToSave"][];
        };
        /** CreateUser */
        CreateUser: {
            /** Id */
            id: string;
            /** Name */
            name?: string | null;
            /** Email */
            email?: string | null;
            /**
             * Role
             * @default member
             * @enum {string}
             */
            role?: "responder" | "member" | "admin";
        };
        /** CreatedAnswer */
        CreatedAnswer: {
            invitation: components["schemas"]["Invitation"];
            /**
             * Link
             * @description Where the person accepts it; null where it went to them by mail.
             */
            link: string | null;
        };
        /** CreatedInstance */
        CreatedInstance: {
            /** Success */
            success: boolean;
            /** Message */
            message: string;
            /** Instanceid */
            instanceId: number;
            /**
             * Microserviceconnected
             * @description Whether a worker is alive.
             */
            microserviceConnected: boolean;
            /**
             * Webhookregistered
             * @description Present only for bot-messenger instances. False with webhookError null: updates are fetched.
             */
            webhookRegistered?: boolean | null;
            /** Webhookerror */
            webhookError: string | null;
            /**
             * Operation
             * @enum {string}
             */
            operation: "created" | "updated";
        };
        /** CreatedKeyAnswer */
        CreatedKeyAnswer: {
            /** Success */
            success: boolean;
            key: components["schemas"]["KeyRecord"];
            /**
             * Token
             * @description The key itself. Shown once.
             */
            token: string;
        };
        /** CreatedKnowledgeBase */
        CreatedKnowledgeBase: {
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Description */
            description: string;
            /**
             * Type
             * @constant
             */
            type: "kb";
            /**
             * Status
             * @constant
             */
            status: "published";
        };
        /** CredentialsAnswer */
        CredentialsAnswer: {
            /**
             * State
             * @enum {string}
             */
            state: "accepted" | "refused" | "unreachable" | "nothing-to-check";
            /**
             * Message
             * @description In the platform's words where it refused.
             */
            message: string;
            /**
             * Action
             * @description What to do; empty for nothing.
             */
            action: string;
        };
        /** CredentialsToCheck */
        CredentialsToCheck: {
            /** Config */
            config: {
                [key: string]: unknown;
            };
        };
        /** DeadLetter */
        DeadLetter: {
            instance: components["schemas"]["InstanceName"];
            /** @description error says why it was given up. */
            message: components["schemas"]["ConversationMessage"];
        };
        /** DeadLetterAnswer */
        DeadLetterAnswer: {
            deadLetter: components["schemas"]["DeadLetter"];
            /**
             * Parts
             * @description Those that were given up; none of an inbound message.
             */
            parts: components["schemas"]["DeadPart"][];
        };
        /** DeadLetterList */
        DeadLetterList: {
            /** Deadletters */
            deadLetters: components["schemas"]["DeadLetter"][];
            /**
             * Next
             * @description The cursor of the next page; null on the last one.
             */
            next: string | null;
        };
        /** DeadLetterName */
        DeadLetterName: {
            /** Instanceid */
            instanceId: number;
            /** Messageid */
            messageId: string;
        };
        /** DeadLetterResult */
        DeadLetterResult: {
            /** Instanceid */
            instanceId: number;
            /** Messageid */
            messageId: string;
            /** Success */
            success: boolean;
            /**
             * Error
             * @description Why it was refused.
             */
            error: string | null;
        };
        /** DeadLetterResults */
        DeadLetterResults: {
            /**
             * Results
             * @description In the order of the request.
             */
            results: components["schemas"]["DeadLetterResult"][];
        };
        /** DeadPart */
        DeadPart: {
            /** Deliveryid */
            deliveryId: number;
            /** Attempts */
            attempts: number;
            /** Error */
            error: string | null;
            /**
             * Payload
             * @description JSON, as it was handed to the channel.
             */
            payload: string;
        };
        /** DecideApproval */
        DecideApproval: {
            /**
             * Decision
             * @enum {string}
             */
            decision: "approved" | "rejected";
            /**
             * Reason
             * @description The sender reads it.
             * @default
             */
            reason?: string;
        };
        /** DeletedInstance */
        DeletedInstance: {
            /** Success */
            success: boolean;
            /** Message */
            message: string;
            /** Instanceid */
            instanceId: string;
        };
        /** DeliveryList */
        DeliveryList: {
            /** Deliveries */
            deliveries: components["schemas"]["DeliveryRecord"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** DeliveryRecord */
        DeliveryRecord: {
            /** Id */
            id: number;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "sent" | "dead";
            /** Attempts */
            attempts: number;
            /** Lasterror */
            lastError: string | null;
            /** Createdat */
            createdAt: string;
            /** Nextattemptat */
            nextAttemptAt: string | null;
        };
        /**
         * Direction
         * @description A note is read by those who work on the conversation alone.
         * @enum {string}
         */
        Direction: "in" | "out" | "note";
        /**
         * Done
         * @description An answer that says that a request was carried out.
         */
        Done: {
            /** Success */
            success: boolean;
        };
        /** EmailVerified */
        EmailVerified: {
            /** Success */
            success: boolean;
            /** Message */
            message: string;
            /** Email */
            email: string;
        };
        /**
         * Empty
         * @description An object with nothing in it.
         */
        Empty: Record<string, never>;
        /** EventSubscription */
        EventSubscription: {
            /** Id */
            id: number;
            /** Url */
            url: string;
            /**
             * Kinds
             * @description Empty: all.
             */
            kinds: string[];
            /**
             * Instanceids
             * @description Empty: all of the user; for an admin all.
             */
            instanceIds: number[];
            /** Userid */
            userId: string;
            /**
             * Status
             * @enum {string}
             */
            status: "active" | "off";
            /**
             * Reason
             * @description Why it is off.
             */
            reason: string | null;
            /**
             * Healthy
             * @description False while the last push failed, or nothing was taken for an hour although events wait.
             */
            healthy: boolean;
            /**
             * Problem
             * @description Why it is not healthy.
             */
            problem: string | null;
            /** Createdat */
            createdAt: string;
            /** Updatedat */
            updatedAt: string;
        };
        /** ExplainedHit */
        ExplainedHit: {
            /** Chunk */
            chunk: string;
            /** Chunkid */
            chunkId: string;
            /** Fileid */
            fileId: string;
            /** Filename */
            fileName: string;
            /** Metadata */
            metadata: string | null;
            /**
             * Similarity
             * @description The higher of both scores.
             */
            similarity: number;
            /** Textscore */
            textScore: number;
            /**
             * Vectorscore
             * @description Null where vectors were not compared.
             */
            vectorScore: number | null;
            /**
             * Rank
             * @description Place in the answer of the search, null behind the tenth.
             */
            rank: number | null;
            /**
             * Textrank
             * @description Place in what the text search found alone.
             */
            textRank: number | null;
            /**
             * Vectorrank
             * @description Place in what the vector search found alone.
             */
            vectorRank: number | null;
            /**
             * Highlights
             * @description Characters of `chunk`: first, and behind the last.
             */
            highlights: [
                number,
                number
            ][];
        };
        /** ExplanationAnswer */
        ExplanationAnswer: {
            /** Words */
            words: components["schemas"]["QueryWord"][];
            /** Results */
            results: components["schemas"]["ExplainedHit"][];
            /**
             * Bymeaning
             * @description Whether vectors were compared.
             */
            byMeaning: boolean;
        };
        /** FeedbackList */
        FeedbackList: {
            /**
             * Feedback
             * @description A page may hold fewer than the limit, even none, while others follow.
             */
            feedback: components["schemas"]["FeedbackRecord"][];
            /**
             * Next
             * @description The cursor of the next page; null on the last one.
             */
            next: string | null;
        };
        /** FeedbackRecord */
        FeedbackRecord: {
            /** Id */
            id: number;
            /** Instanceid */
            instanceId: number;
            /** Channelname */
            channelName: string;
            /** Sessionid */
            sessionId: string;
            /**
             * Messageid
             * @description The answer.
             */
            messageId: string;
            /**
             * Rating
             * @enum {string}
             */
            rating: "up" | "down";
            sender: components["schemas"]["Voter"];
            /** At */
            at: string;
            /** Question */
            question: string;
            /** Answer */
            answer: string;
            /**
             * Resource
             * @description Which one made the answer.
             */
            resource: string | null;
            /**
             * Route
             * @description Why that one was asked; null for the instance's own.
             */
            route: string | null;
            /**
             * Citations
             * @description The passages that the answer stands on.
             */
            citations: components["schemas"]["CitedPassage"][];
        };
        /** FieldFault */
        FieldFault: {
            /** Field */
            field: string;
            /** Message */
            message: string;
        };
        /** FigurePoint */
        FigurePoint: {
            /**
             * At
             * @description When the step begins.
             */
            at: string;
            counts: components["schemas"]["adapters__inbound__rest__monitoring__Counts"];
        };
        /** FigureReport */
        FigureReport: {
            /**
             * Period
             * @enum {string}
             */
            period: "hour" | "day";
            /** Stepseconds */
            stepSeconds: number;
            /**
             * Until
             * @description What happened later is not counted yet.
             */
            until: string;
            total: components["schemas"]["adapters__inbound__rest__monitoring__Counts"];
            /**
             * Points
             * @description All steps of the period, the oldest first.
             */
            points: components["schemas"]["FigurePoint"][];
        };
        /** FileAnswer */
        FileAnswer: {
            file: components["schemas"]["FileRecord"];
        };
        /** FileFormat */
        FileFormat: {
            /** Format */
            format: string;
            /** Available */
            available: boolean;
            /**
             * How
             * @description What reads it, or what to install.
             */
            how: string;
        };
        /** FileList */
        FileList: {
            /** Files */
            files: components["schemas"]["ListedFileRecord"][];
        };
        /** FileOfVisitor */
        FileOfVisitor: {
            /** Name */
            name: string;
            /**
             * Mimetype
             * @default
             */
            mimeType?: string;
            /** Database64 */
            dataBase64: string;
        };
        /** FileRecord */
        FileRecord: {
            /** Id */
            id: number;
            /** Knowledge Base Id */
            knowledge_base_id: number;
            /** File Name */
            file_name: string;
            /** File Path */
            file_path: string;
            /** Filehash */
            fileHash: string;
            /** Text */
            text: string;
            /** Created At */
            created_at: string;
            /** Updated At */
            updated_at: string;
            /**
             * Status
             * @enum {string}
             */
            status: "processing" | "ready" | "failed";
            /**
             * Progress
             * @description 0 to 1.
             */
            progress: number;
            /** Error */
            error: string | null;
            /**
             * Warnings
             * @description What of it could not be read.
             */
            warnings: string[];
            /**
             * Queueposition
             * @description Place of its upload among all that wait, from 1; null once it is worked on.
             */
            queuePosition: number | null;
        };
        /** FileState */
        FileState: {
            /** Id */
            id: number;
            /** Knowledgebaseid */
            knowledgeBaseId: number;
            /**
             * Fileid
             * @description Lower-case hex SHA-256 of the bytes.
             */
            fileId: string;
            /** Filename */
            fileName: string;
            /**
             * Filesize
             * @description In bytes.
             */
            fileSize: number;
            /** Mimetype */
            mimeType: string;
            /** Uploadedby */
            uploadedBy: string;
            /** Createdat */
            createdAt: string;
            /** Updatedat */
            updatedAt: string;
            /**
             * Status
             * @enum {string}
             */
            status: "processing" | "ready" | "failed";
            /**
             * Progress
             * @description 0 to 1.
             */
            progress: number;
            /** Error */
            error: string | null;
            /**
             * Warnings
             * @description What of it could not be read.
             */
            warnings: string[];
            /** Chunkcount */
            chunkCount: number;
            /**
             * Step
             * @description While it is being processed. `preparing_model`: it is read, and waits for the embedding model to be prepared, once on each machine.
             */
            step: ("waiting" | "reading" | "preparing_model" | "embedding") | null;
            /**
             * Queueposition
             * @description Place among all uploads that wait, from 1; null once the upload is worked on.
             */
            queuePosition: number | null;
        };
        /** FileStateAnswer */
        FileStateAnswer: {
            file: components["schemas"]["FileState"];
        };
        /** FileStateList */
        FileStateList: {
            /** Files */
            files: components["schemas"]["FileState"][];
            /** Next */
            next: number | null;
        };
        /** FileTextAnswer */
        FileTextAnswer: {
            file: components["schemas"]["FileState"];
            /** Text */
            text: string;
            /**
             * Start
             * @description Where the stretch begins in the whole text.
             */
            start: number;
            /**
             * Length
             * @description Characters of the whole text.
             */
            length: number;
            /**
             * Chunks
             * @description Fewer than the limit where they are very long: ask again with the offset behind them.
             */
            chunks: components["schemas"]["ChunkPlace"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** FileToSend */
        FileToSend: {
            /** Name */
            name: string;
            /**
             * Mimetype
             * @description Default: application/octet-stream.
             * @default
             */
            mimeType?: string;
            /**
             * Url
             * @description Either this or dataBase64.
             */
            url?: string | null;
            /**
             * Database64
             * @description At most 10 MB of bytes in all files of a message.
             */
            dataBase64?: string | null;
        };
        /** Finding */
        Finding: {
            /**
             * Grade
             * @description note: it works without.
             * @enum {string}
             */
            grade: "ok" | "note" | "fail";
            /** Subject */
            subject: string;
            /** Text */
            text: string;
        };
        /** FindingList */
        FindingList: {
            /** Findings */
            findings: components["schemas"]["Finding"][];
        };
        /** HealthList */
        HealthList: {
            /**
             * Instances
             * @description A page of the failing ones may hold fewer than the limit, even none, while others follow.
             */
            instances: components["schemas"]["InstanceState"][];
            /**
             * Next
             * @description The cursor of the next page; null on the last one.
             */
            next: string | null;
        };
        /** IdentityRemoved */
        IdentityRemoved: {
            /** Success */
            success: boolean;
            /** Message */
            message: string;
        };
        /** InstanceHealth */
        InstanceHealth: {
            /** Instanceid */
            instanceId: number;
            /** Healthy */
            healthy: boolean;
            /** Warnings */
            warnings: string[];
            /**
             * Notes
             * @description What is worth knowing and needs no action.
             */
            notes: string[];
            /** Lastsuccess */
            lastSuccess: string | null;
            /** Lasterror */
            lastError: string | null;
            /** Lasterrorat */
            lastErrorAt: string | null;
            /** Nextrun */
            nextRun: string | null;
            /** Queue */
            queue: {
                [key: string]: number;
            };
            /** Pairingcode */
            pairingCode: string | null;
            /**
             * Breaker
             * @enum {string}
             */
            breaker: "closed" | "open" | "half_open";
            /** Breakeruntil */
            breakerUntil: string | null;
            /** @description Polls, schedules, connections, calls of the platform. */
            receiving: components["schemas"]["ActivityHealth"];
            /** @description From a message to its answer: reading it, fetching its attachments, asking the resource. */
            processing: components["schemas"]["ActivityHealth"];
            /** @description Handing replies to the platform. */
            sending: components["schemas"]["ActivityHealth"];
            /**
             * Unanswered
             * @description Messages that are not answered, by the reason.
             */
            unanswered: {
                [key: string]: number;
            };
        };
        /** InstanceName */
        InstanceName: {
            /** Id */
            id: number;
            /** Userid */
            userId: string;
            /** Channelid */
            channelId: string;
            /** Channelname */
            channelName: string;
        };
        /** InstancePermission */
        InstancePermission: {
            /**
             * Userid
             * @description Null for a team.
             */
            userId: string | null;
            /**
             * Teamid
             * @description Present only for a team.
             */
            teamId?: number | null;
            /** Level */
            level: number;
        };
        /** InstancePermissionBody */
        InstancePermissionBody: {
            /**
             * Userid
             * @description Either a user or a team.
             */
            userId?: string | null;
            /** Teamid */
            teamId?: number | null;
            /**
             * Level
             * @description 0 revokes, 1 VIEW, 2 ANSWER, 3 MANAGE.
             */
            level: number;
        };
        /** InstancePermissions */
        InstancePermissions: {
            /** Permissions */
            permissions: components["schemas"]["InstancePermission"][];
        };
        /** InstanceState */
        InstanceState: {
            instance: components["schemas"]["InstanceName"];
            health: components["schemas"]["InstanceHealth"];
            backlog: components["schemas"]["Backlog"];
            /** @description What the platform asked for. */
            cooldown: components["schemas"]["Cooldown"];
        };
        /** InstanceTrust */
        InstanceTrust: {
            /**
             * Trusted
             * @description Whether the owner's word counts for who the senders are.
             */
            trusted: boolean;
        };
        /** Invitation */
        Invitation: {
            /** Id */
            id: number;
            /** Email */
            email: string;
            role: components["schemas"]["Role"];
            /**
             * Teams
             * @description Ids of teams.
             */
            teams: number[];
            /** Createdby */
            createdBy: string;
            /** Createdat */
            createdAt: string;
            /** Expiresat */
            expiresAt: string;
            /**
             * Acceptedat
             * @description Null: it is open, or has expired.
             */
            acceptedAt: string | null;
            /**
             * Userid
             * @description The user that it made.
             */
            userId: string | null;
        };
        /** InvitationList */
        InvitationList: {
            /** Invitations */
            invitations: components["schemas"]["Invitation"][];
            /** Next */
            next: number | null;
        };
        /** KeyList */
        KeyList: {
            /** Keys */
            keys: components["schemas"]["KeyRecord"][];
            /** Next */
            next: number | null;
        };
        /** KeyRecord */
        KeyRecord: {
            /** Id */
            id: number;
            /** Userid */
            userId: string;
            /** @description What it may do at most. */
            role: components["schemas"]["Role"];
            /**
             * Scopes
             * @description What it may be used for; null: for all that its user may do.
             */
            scopes: components["schemas"]["Scope"][] | null;
            /**
             * Createdby
             * @description Null: a command on the server.
             */
            createdBy: string | null;
            /**
             * Kind
             * @enum {string}
             */
            kind: "key" | "session";
            /** Name */
            name: string;
            /**
             * Prefix
             * @description The first characters of the key.
             */
            prefix: string;
            /**
             * Live
             * @description Neither revoked nor expired.
             */
            live: boolean;
            /** Createdat */
            createdAt: string;
            /** Expiresat */
            expiresAt: string | null;
            /** Revokedat */
            revokedAt: string | null;
            /**
             * Parentid
             * @description What it was made with, and ends with.
             */
            parentId: number | null;
            /**
             * Device
             * @description What a session was opened with; empty for keys.
             */
            device: string;
            /**
             * Address
             * @description Where a session was opened; empty for keys.
             */
            address: string;
            /**
             * Usedat
             * @description When a session was used last, to about five minutes.
             */
            usedAt: string | null;
        };
        /** KnowledgeBase */
        KnowledgeBase: {
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Description */
            description: string;
            /** Created By */
            created_by: string;
            /** Created At */
            created_at: string;
            /** Updated At */
            updated_at: string;
        };
        /** KnowledgeBaseAnswer */
        KnowledgeBaseAnswer: {
            knowledgeBase: components["schemas"]["KnowledgeBase"];
        };
        /** KnowledgeBaseList */
        KnowledgeBaseList: {
            /** Knowledgebases */
            knowledgeBases: components["schemas"]["ListedKnowledgeBase"][];
        };
        /**
         * ListedFileRecord
         * @description A record of a list, which has all fields, or those that the query names by `fields`.
         */
        ListedFileRecord: {
            /** Id */
            id?: number;
            /** Knowledge Base Id */
            knowledge_base_id?: number;
            /** File Name */
            file_name?: string;
            /** File Path */
            file_path?: string;
            /** Filehash */
            fileHash?: string;
            /** Text */
            text?: string;
            /** Created At */
            created_at?: string;
            /** Updated At */
            updated_at?: string;
            /**
             * Status
             * @enum {string}
             */
            status?: "processing" | "ready" | "failed";
            /**
             * Progress
             * @description 0 to 1.
             */
            progress?: number;
            /** Error */
            error?: string | null;
            /**
             * Warnings
             * @description What of it could not be read.
             */
            warnings?: string[];
            /**
             * Queueposition
             * @description Place of its upload among all that wait, from 1; null once it is worked on.
             */
            queuePosition?: number | null;
        };
        /** ListedKnowledgeBase */
        ListedKnowledgeBase: {
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Description */
            description: string;
            /** Created By */
            created_by: string;
            /** Created At */
            created_at: string;
            /** Updated At */
            updated_at: string;
            /**
             * Permission Level
             * @description The caller's level: 1 READ, 2 UPDATE, 3 DELETE.
             */
            permission_level: number;
        };
        /**
         * MailPace
         * @description When mails are sent: one for each notification, or one for all of an hour or a day.
         * @enum {string}
         */
        MailPace: "at_once" | "hourly" | "daily";
        /** MarkRead */
        MarkRead: {
            /**
             * Ids
             * @default []
             */
            ids?: number[];
            /**
             * Upto
             * @description All up to this id.
             * @default 0
             */
            upTo?: number;
        };
        /** MeAnswer */
        MeAnswer: {
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Email */
            email: string;
            /** @description What this call may do: a key may have less than its user. */
            role: components["schemas"]["Role"];
            state: components["schemas"]["UserState"];
            /** Createdat */
            createdAt: string;
            /** Lastseenat */
            lastSeenAt: string | null;
            /**
             * Scopes
             * @description Of the key; null: all.
             */
            scopes: components["schemas"]["Scope"][] | null;
            /** Teams */
            teams: components["schemas"]["Team"][];
        };
        /** Member */
        Member: {
            /** Userid */
            userId: string;
            /**
             * Lead
             * @description They may change the members of the team.
             */
            lead: boolean;
        };
        /** MemberToSave */
        MemberToSave: {
            /** Userid */
            userId: string;
            /**
             * Lead
             * @default false
             */
            lead?: boolean;
        };
        /** MergedPeople */
        MergedPeople: {
            /**
             * Personids
             * @description The others, who are gone then.
             */
            personIds: number[];
        };
        /** MessageFile */
        MessageFile: {
            /** Name */
            name: string;
            /** Mimetype */
            mimeType: string;
            /**
             * Size
             * @description In bytes, where it is known.
             */
            size: number | null;
            /**
             * Url
             * @description Empty for a file of the sender that was not fetched from the platform.
             */
            url: string;
        };
        /** MessageList */
        MessageList: {
            /** Messages */
            messages: components["schemas"]["ConversationMessage"][];
            /**
             * Next
             * @description The cursor of the next page; null on the last one.
             */
            next: string | null;
        };
        /** MessageQueued */
        MessageQueued: {
            /** Success */
            success: boolean;
            /** Messageid */
            messageId: string;
            /** Sessionid */
            sessionId: string;
            /**
             * Status
             * @default queued
             * @constant
             */
            status?: "queued";
        };
        /** MessageTimeline */
        MessageTimeline: {
            /** Messageid */
            messageId: string;
            /** Steps */
            steps: components["schemas"]["TimelineStep"][];
        };
        /** NotReady */
        NotReady: {
            /** Error */
            error: string;
            /**
             * Status
             * @constant
             */
            status: "not ready";
            /**
             * Checks
             * @description What was looked at, and what is wrong with it.
             */
            checks: {
                [key: string]: string;
            };
        };
        /** Notification */
        Notification: {
            /**
             * Id
             * @description Grows.
             */
            id: number;
            kind: components["schemas"]["NotificationKind"];
            /**
             * Text
             * @description In the language that the user has set.
             */
            text: string;
            /**
             * Url
             * @description What it is about, in the console.
             */
            url: string;
            /** Instanceid */
            instanceId: number | null;
            /** Instancename */
            instanceName: string | null;
            /** Sessionid */
            sessionId: string | null;
            /**
             * Messageid
             * @description Of `mentioned`: the note.
             */
            messageId: string | null;
            /**
             * Confirmationid
             * @description Of `approval`: the confirmation.
             */
            confirmationId: number | null;
            /**
             * Budgetid
             * @description Of `budget`: the budget.
             */
            budgetId: number | null;
            /**
             * Actor
             * @description The user who caused it.
             */
            actor: string | null;
            /**
             * Data
             * @description `assigned`: team, where it is one; `unhealthy`: activity, error; `budget`: percent, month, of, subject, amount, currency.
             */
            data: {
                [key: string]: unknown;
            };
            /** Createdat */
            createdAt: string;
            /**
             * Readat
             * @description Null: it is unread.
             */
            readAt: string | null;
        };
        /**
         * NotificationKind
         * @description The subject of a notification.
         * @enum {string}
         */
        NotificationKind: "wanted" | "assigned" | "mentioned" | "approval" | "unhealthy" | "healthy" | "budget";
        /** NotificationList */
        NotificationList: {
            /** Notifications */
            notifications: components["schemas"]["Notification"][];
            /** Next */
            next: number | null;
        };
        /** OpenChat */
        OpenChat: {
            /**
             * Visitor
             * @description The token of an earlier session, or empty.
             * @default
             */
            visitor?: string;
            /**
             * Identity
             * @description A JSON Web Token (HS256) that the site's backend signed, or empty.
             * @default
             */
            identity?: string;
        };
        /** Pagination */
        Pagination: {
            /** Currentpage */
            currentPage: number;
            /** Totalpages */
            totalPages: number;
            /** Totalcount */
            totalCount: number;
            /** Limit */
            limit: number;
            /** Offset */
            offset: number;
        };
        /** PairingAnswer */
        PairingAnswer: {
            /** Success */
            success: boolean;
            /** Pairingcode */
            pairingCode: string | null;
            /** Message */
            message: string;
        };
        /** Passkey */
        Passkey: {
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Createdat */
            createdAt: string;
            /**
             * Usedat
             * @description When it was used last; null: never.
             */
            usedAt: string | null;
        };
        /** PasskeyList */
        PasskeyList: {
            /** Passkeys */
            passkeys: components["schemas"]["Passkey"][];
        };
        /** PasskeysRemoved */
        PasskeysRemoved: {
            /**
             * Removed
             * @description How many.
             */
            removed: number;
        };
        /**
         * Period
         * @description The last hour by minutes, the last day by half hours.
         * @enum {string}
         */
        Period: "hour" | "day";
        /** Permission */
        Permission: {
            /**
             * Userid
             * @description Null for a team.
             */
            userId: string | null;
            /**
             * Teamid
             * @description Present only for a team.
             */
            teamId?: number | null;
            /** Permission Level */
            permission_level: number;
        };
        /** PermissionList */
        PermissionList: {
            /** Permissions */
            permissions: components["schemas"]["Permission"][];
        };
        /** Person */
        Person: {
            /** Id */
            id: number;
            /**
             * Owner
             * @description Owner of the instances.
             */
            owner: string;
            /**
             * Name
             * @description Set by hand, or what the platforms tell.
             */
            name: string;
            /**
             * Language
             * @description Set by hand, or what the platforms tell; null where they tell none.
             */
            language: string | null;
            /** Labels */
            labels: string[];
            /**
             * Identities
             * @description Proved by the messages.
             */
            identities: components["schemas"]["PersonIdentity"][];
            /**
             * Userids
             * @description The platform users that the identities are verified for, where instances identify senders.
             */
            userIds: string[];
            /**
             * Conversations
             * @description The latest ones: 10 in a list, 1000 of one person.
             */
            conversations: components["schemas"]["PersonConversation"][];
            /**
             * Conversationcount
             * @description Number of all conversations.
             */
            conversationCount: number;
            /** Firstat */
            firstAt: string;
            /**
             * Lastat
             * @description The latest message; up to a minute late.
             */
            lastAt: string;
        };
        /** PersonConversation */
        PersonConversation: {
            /** Instanceid */
            instanceId: number;
            /** Channelid */
            channelId: string;
            /** Channelname */
            channelName: string;
            /** Sessionid */
            sessionId: string;
            /**
             * Senderid
             * @description Id of the person at the platform.
             */
            senderId: string;
            /**
             * Sendername
             * @description Empty where the platform tells none.
             */
            senderName: string;
            /** Firstat */
            firstAt: string;
            /** Lastat */
            lastAt: string;
        };
        /** PersonFields */
        PersonFields: {
            /**
             * Name
             * @description Empty: what the platforms tell. Left out, a field stays as it is.
             */
            name?: string | null;
            /**
             * Language
             * @description Empty: what the platforms tell.
             */
            language?: string | null;
            /** Labels */
            labels?: string[] | null;
        };
        /** PersonIdentity */
        PersonIdentity: {
            /** Field */
            field: string;
            /** Value */
            value: string;
        };
        /** PersonList */
        PersonList: {
            /** People */
            people: components["schemas"]["Person"][];
            /**
             * Next
             * @description The cursor of the next page; null on the last one.
             */
            next: string | null;
        };
        /** Place */
        Place: {
            /**
             * Position
             * @description Number of the chunk in its file, from 0.
             */
            position: number | null;
            /** Title */
            title: string | null;
            /** Headingpath */
            headingPath: string[];
            /** Page */
            page: number | null;
            /** Pageend */
            pageEnd: number | null;
            /** Slide */
            slide: number | null;
            /** Sheet */
            sheet: string | null;
            /** Rowstart */
            rowStart: number | null;
            /** Rowend */
            rowEnd: number | null;
            /**
             * Timestart
             * @description In seconds, as `timeEnd`.
             */
            timeStart: number | null;
            /** Timeend */
            timeEnd: number | null;
        };
        /** PostChatMessage */
        PostChatMessage: {
            /**
             * Id
             * @description A UUID of the client; the same id again is the same message.
             */
            id: string;
            /**
             * Text
             * @default
             */
            text?: string;
            /**
             * Choice
             * @description The value of a pressed button; the text is then its label.
             * @default
             */
            choice?: string;
            /**
             * Files
             * @description Together at most `maxFileBytes`.
             * @default []
             */
            files?: components["schemas"]["FileOfVisitor"][];
        };
        /** PrivacyRequest */
        PrivacyRequest: {
            /** Id */
            id: number;
            /**
             * Kind
             * @enum {string}
             */
            kind: "export" | "erase";
            /** Personid */
            personId: number;
            /**
             * Owner
             * @description Owner of the instances.
             */
            owner: string;
            /** Requestedby */
            requestedBy: string;
            /**
             * State
             * @description Failed: given up after several tries. It may be requested again.
             * @enum {string}
             */
            state: "pending" | "running" | "done" | "failed";
            /**
             * Done
             * @description Conversations that are done.
             */
            done: number;
            /**
             * Total
             * @description Conversations when it was requested.
             */
            total: number;
            /**
             * Error
             * @description Why the last try failed.
             */
            error: string | null;
            /**
             * Url
             * @description Signed address of the ZIP of an export that is done, until it expires.
             */
            url: string | null;
            /**
             * Size
             * @description Bytes of the ZIP.
             */
            size: number | null;
            /** Createdat */
            createdAt: string;
            /** Finishedat */
            finishedAt: string | null;
            /** Expiresat */
            expiresAt: string | null;
        };
        /** PrivacyRequestList */
        PrivacyRequestList: {
            /** Requests */
            requests: components["schemas"]["PrivacyRequest"][];
            /**
             * Next
             * @description The cursor of the next page; null on the last one.
             */
            next: string | null;
        };
        /** PushList */
        PushList: {
            /** Deliveries */
            deliveries: components["schemas"]["PushRecord"][];
            /** Next */
            next: number | null;
        };
        /** PushRecord */
        PushRecord: {
            /** Id */
            id: number;
            /** Eventid */
            eventId: number;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "sent" | "dead";
            /** Attempts */
            attempts: number;
            /** Error */
            error: string | null;
            /** Createdat */
            createdAt: string;
            /** Nextattemptat */
            nextAttemptAt: string | null;
            /**
             * Kind
             * @description Kind of the event; empty once the event is deleted.
             */
            kind: string;
            /**
             * Answer
             * @description HTTP status of the last try that was answered.
             */
            answer: number | null;
        };
        /** PushTestAnswer */
        PushTestAnswer: {
            /** Success */
            success: boolean;
            /**
             * Error
             * @description How the address answered, where it did not take the trial event.
             */
            error: string | null;
        };
        /** QueryWord */
        QueryWord: {
            /** Word */
            word: string;
            /**
             * Chunks
             * @description How many chunks of the base hold it.
             */
            chunks: number;
            /**
             * Similar
             * @description Words of the base that are like it, where none holds it.
             */
            similar: string[];
        };
        /** Ready */
        Ready: {
            /**
             * Status
             * @constant
             */
            status: "ok";
            /**
             * Checks
             * @description What was looked at, and how it is.
             */
            checks: {
                [key: string]: "ok" | "degraded";
            };
            /**
             * Reasons
             * @description What is wrong with what is degraded.
             */
            reasons: {
                [key: string]: string;
            };
        };
        /** ReportList */
        ReportList: {
            /**
             * Reports
             * @description Ordered by day, instance, team and colleague.
             */
            reports: components["schemas"]["ReportRow"][];
            /**
             * Next
             * @description The cursor of the next page; null on the last one.
             */
            next: string | null;
        };
        /** ReportRow */
        ReportRow: {
            /**
             * Day
             * @description In UTC; null where the report is not by it.
             */
            day: string | null;
            /**
             * Instanceid
             * @description The instance may be gone; null where the report is not by it.
             */
            instanceId: number | null;
            /**
             * Channelname
             * @description null where the instance is gone, or the report is not by it.
             */
            channelName: string | null;
            /**
             * Userid
             * @description The colleague; empty for what no colleague did; null where the report is not by it.
             */
            userId: string | null;
            /**
             * Teamid
             * @description 0 for what no member of a team did; null where the report is not by it.
             */
            teamId: number | null;
            /** Teamname */
            teamName: string | null;
            /**
             * Messages
             * @description Messages received.
             */
            messages: number;
            /**
             * People
             * @description How many people wrote them, on each day and to each instance.
             */
            people: number;
            /**
             * Answeredbyagent
             * @description Answers of agents.
             */
            answeredByAgent: number;
            /**
             * Answeredbyperson
             * @description Answers of colleagues; several in a row are one.
             */
            answeredByPerson: number;
            /** @description From the message that opened a conversation to its first answer. */
            timeToFirstAnswer: components["schemas"]["ReportTimes"];
            /**
             * Handovers
             * @description Conversations that were handed to people.
             */
            handovers: number;
            /** @description From an agent's asking for people to the first answer of a colleague. */
            timeToPerson: components["schemas"]["ReportTimes"];
            /**
             * Closed
             * @description Conversations that were closed.
             */
            closed: number;
            /** @description From the message that opened a conversation until it was closed. */
            timeToClose: components["schemas"]["ReportTimes"];
            /**
             * Failed
             * @description Messages of both directions that were given up.
             */
            failed: number;
            /**
             * Feedbackup
             * @description Answers that people liked.
             */
            feedbackUp: number;
            /**
             * Feedbackdown
             * @description Answers that people did not like.
             */
            feedbackDown: number;
        };
        /** ReportTimes */
        ReportTimes: {
            /**
             * Count
             * @description How many times were counted.
             */
            count: number;
            /**
             * Meanseconds
             * @description null where there were none.
             */
            meanSeconds: number | null;
            /**
             * Medianseconds
             * @description Half of the times were at most so long, to within a fifth; null where there were none.
             */
            medianSeconds: number | null;
        };
        /** ResourceRule */
        ResourceRule: {
            /**
             * Source
             * @description rule: of RESOURCES_FILE; agent: a stored agent; default: DOWNSTREAM_URL.
             * @enum {string}
             */
            source: "rule" | "agent" | "built-in" | "default";
            /**
             * Match
             * @description A glob over canonical resource ids.
             */
            match: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "builtin" | "http" | "grpc" | "chat-completions" | "responses" | "langgraph" | "ag-ui" | "a2a" | "dify" | "flowise";
            /**
             * Target
             * @description An address without what may be secret, or what a built-in does.
             */
            target: string;
            /**
             * Seconds
             * @description For a message, retries included.
             */
            seconds: number;
            /**
             * Line
             * @description In the rules file; 0 for what stands in none.
             */
            line: number;
            /** Model */
            model: string;
            /** Tools */
            tools: string[];
            /** Hastoken */
            hasToken: boolean;
            /**
             * Knowledge
             * @description Ids of the knowledge bases that a model may search.
             */
            knowledge: number[];
            /**
             * Mcpservers
             * @description Names of the MCP servers whose tools a model may use.
             */
            mcpServers: string[];
            /**
             * Agentid
             * @description Of a stored agent; 0 for others.
             */
            agentId: number;
        };
        /** ResourceRules */
        ResourceRules: {
            /**
             * Rules
             * @description In the order in which they are tried.
             */
            rules: components["schemas"]["ResourceRule"][];
            /**
             * File
             * @description RESOURCES_FILE; empty without one.
             */
            file: string;
            /** Readat */
            readAt: string | null;
            /**
             * Fault
             * @description The file was changed, and cannot be used as it is: the rules from before stay in force.
             */
            fault: string;
        };
        /** ResourceTrial */
        ResourceTrial: {
            /**
             * Resource
             * @description Canonical form of the id.
             */
            resource: string;
            /**
             * Source
             * @enum {string}
             */
            source: "rule" | "agent" | "built-in" | "default" | "nothing";
            /**
             * Kind
             * @description As in the kind of the rule; empty for nothing.
             */
            kind: string;
            /** @description For admins alone. */
            rule: components["schemas"]["ResourceRule"] | null;
            /** @description null where the resource was not asked. */
            answer: components["schemas"]["TrialAnswer"] | null;
        };
        /**
         * Role
         * @description What a user may do in the installation: a responder works on what is shared with them, a member also on what
         *     they make themselves, an admin on everything.
         * @enum {string}
         */
        Role: "responder" | "member" | "admin";
        /** Route */
        Route: {
            when: components["schemas"]["RouteCondition"];
            /** To */
            to: string;
        };
        /** RouteCondition */
        RouteCondition: {
            /** Language */
            language?: string[];
            /** Matches */
            matches?: string[];
            hours?: components["schemas"]["RouteHours"] | null;
            /** Verified */
            verified?: boolean | null;
            /** Group */
            group?: boolean | string[] | null;
            /** Label */
            label?: string[];
            /** Share */
            share?: number | null;
        };
        /**
         * RouteConditionToSave
         * @description All that is given must hold; of a list one entry is enough.
         */
        RouteConditionToSave: {
            /**
             * Language
             * @description What the sender's language begins with.
             * @default []
             */
            language?: string | string[];
            /**
             * Matches
             * @description Words in the text; * stands for any letters of a word.
             * @default []
             */
            matches?: string | string[];
            hours?: components["schemas"]["RouteHoursToSave"] | null;
            /**
             * Verified
             * @description Whether the sender is known as a platform user.
             */
            verified?: boolean | null;
            /**
             * Group
             * @description Whether it was written in a group, or ids or names of groups.
             */
            group?: boolean | string | string[] | null;
            /**
             * Label
             * @description Labels of the conversation.
             * @default []
             */
            label?: string | string[];
            /**
             * Share
             * @description Part of the conversations, from 0 to 1.
             */
            share?: number | null;
        };
        /** RouteHours */
        RouteHours: {
            /** Days */
            days?: string[];
            /** From */
            from: string;
            /** To */
            to: string;
            /** Timezone */
            timeZone: string;
        };
        /** RouteHoursToSave */
        RouteHoursToSave: {
            /**
             * Days
             * @description mon to sun; none: all.
             * @default []
             */
            days?: string | string[];
            /** From */
            from: string;
            /**
             * To
             * @description Before from: on the next day. 24:00: the end of a day.
             */
            to: string;
            /**
             * Timezone
             * @description Its IANA name.
             * @default UTC
             */
            timeZone?: string;
        };
        /** RouteToSave */
        RouteToSave: {
            when: components["schemas"]["RouteConditionToSave"];
            /** To */
            to: string;
        };
        /** Schedule */
        Schedule: {
            /** Instanceid */
            instanceId: number;
            /** Userid */
            userId: string;
            /** Channelid */
            channelId: string;
            /** Channelname */
            channelName: string;
            /**
             * Kind
             * @description schedule: fires by the clock; poll: asked every so often.
             * @enum {string}
             */
            kind: "schedule" | "poll";
            /**
             * Description
             * @description When it runs, in words.
             */
            description: string;
            /**
             * Expression
             * @description The cron expression; empty for polls.
             */
            expression: string;
            /**
             * Timezone
             * @description Of the expression; empty for polls.
             */
            timezone: string;
            /**
             * Nextrun
             * @description null: not before it is changed, or run by hand.
             */
            nextRun: string | null;
            /**
             * Following
             * @description The times of the clock after that, at most 4.
             */
            following: string[];
            /** Running */
            running: boolean;
            /**
             * Failures
             * @description Failed runs since the last good one.
             */
            failures: number;
            /** Lastsuccess */
            lastSuccess: string | null;
            /** Lasterror */
            lastError: string | null;
            /** Lasterrorat */
            lastErrorAt: string | null;
        };
        /** ScheduleList */
        ScheduleList: {
            /** Schedules */
            schedules: components["schemas"]["Schedule"][];
            /** Next */
            next: number | null;
        };
        /**
         * Scope
         * @description What an API key may be used for, within the role of its user.
         * @enum {string}
         */
        Scope: "instances:read" | "instances:write" | "conversations:read" | "messages:send" | "knowledge:read" | "knowledge:write" | "events:read" | "agents:write" | "admin";
        /** SearchAnswer */
        SearchAnswer: {
            /** Results */
            results: components["schemas"]["SearchResult"][];
        };
        /** SearchRequest */
        SearchRequest: {
            /** Query */
            query: string;
            /**
             * Topk
             * @description The most results.
             * @default 10
             */
            topK?: number;
            /**
             * Minsimilarity
             * @description Less similar chunks are left out.
             * @default 0
             */
            minSimilarity?: number;
            /**
             * Fileids
             * @description Only in these files; without it in all of the base. A file that the base does not have gives no results.
             */
            fileIds?: string[] | null;
            /**
             * Perfile
             * @description At most so many results of one file.
             */
            perFile?: number | null;
            /**
             * Mode
             * @description Which search runs: both, the one by words, the one by meaning.
             * @default hybrid
             * @enum {string}
             */
            mode?: "hybrid" | "text" | "vector";
            /**
             * Highlight
             * @description Whether to tell where words of the query stand.
             * @default false
             */
            highlight?: boolean;
        };
        /** SearchResult */
        SearchResult: {
            /** Chunk */
            chunk: string;
            /** Fileid */
            fileId: string;
            /**
             * Metadata
             * @description JSON text: page, headings, sheet, rows, slide, times, position.
             */
            metadata: string | null;
            /**
             * Similarity
             * @description 0 to 1, higher is more relevant.
             */
            similarity: number;
            /** Chunkid */
            chunkId: string;
            /** Filename */
            fileName: string;
            /**
             * Url
             * @description The file at a signed address, which needs no key and expires.
             */
            url: string;
            /**
             * Sourceurl
             * @description Where a source of the base read the file.
             */
            sourceUrl: string | null;
            /**
             * Textscore
             * @description Null where the search by words did not find it.
             */
            textScore: number | null;
            /**
             * Vectorscore
             * @description Null where the search by meaning did not find it.
             */
            vectorScore: number | null;
            /**
             * Highlights
             * @description With `highlight`: characters of `chunk`, first, and behind the last.
             */
            highlights: [
                number,
                number
            ][];
            /** @description What the metadata tells of the place; null for what is not known. */
            place: components["schemas"]["Place"];
        };
        /** SendMessage */
        SendMessage: {
            /**
             * Sessionid
             * @description Continues a known conversation.
             */
            sessionId?: string | null;
            /**
             * To
             * @description The platform's own address; without it and sessionId the configured default one.
             */
            to?: string | null;
            /**
             * Subject
             * @description Of a mail; beside to.
             */
            subject?: string | null;
            /**
             * Text
             * @description Markdown.
             * @default
             */
            text?: string;
            /**
             * Files
             * @description At most 20.
             * @default []
             */
            files?: components["schemas"]["FileToSend"][];
            /**
             * Choices
             * @description Replies that are offered as buttons.
             * @default []
             */
            choices?: components["schemas"]["ChoiceToSend"][];
            /** @description Takes the place of text and files where the platform has templates (WhatsApp). */
            template?: components["schemas"]["TemplateToSend"] | null;
            /**
             * Takeover
             * @description With sessionId: you answer the conversation from now on, for 60 minutes after your last message, and are its assignee; 409, and nothing is sent, where another user has it. true: you take it from them. false: it stays with whoever has it.
             */
            takeOver?: boolean | null;
            /**
             * Snippetid
             * @description The snippet whose text is sent, in place of text.
             */
            snippetId?: number | null;
        };
        /** SetHandler */
        SetHandler: {
            /**
             * Handler
             * @enum {string}
             */
            handler: "person" | "resource";
            /**
             * Minutes
             * @description How long a person has the conversation after each message of theirs; 60 where it is not given.
             */
            minutes?: number | null;
        };
        /** SetPermission */
        SetPermission: {
            /**
             * Userid
             * @description Either a user or a team.
             */
            userId?: string | null;
            /** Teamid */
            teamId?: number | null;
            /**
             * Permission Level
             * @description 0 revokes, 1 READ, 2 UPDATE, 3 DELETE.
             */
            permission_level: number;
        };
        /** SettingsAnswer */
        SettingsAnswer: {
            /**
             * Kinds
             * @description The ways beside the console, which shows all.
             */
            kinds: {
                [key: string]: components["schemas"]["Way"][];
            };
            mail: components["schemas"]["MailPace"];
            /** @description Where messages go. */
            notifyVia: components["schemas"]["Via"] | null;
            /** Language */
            language: string;
            /** @description Outside of these hours mails and messages wait. */
            hours: components["schemas"]["RouteHours"] | null;
        };
        /**
         * SettingsToSave
         * @description All that is left out has its default.
         */
        SettingsToSave: {
            /**
             * Kinds
             * @description Kinds that are left out come in the console alone.
             * @default {}
             */
            kinds?: {
                [key: string]: components["schemas"]["Way"][];
            };
            /**
             * @description One mail for all of an hour or a day, or at once.
             * @default at_once
             */
            mail?: components["schemas"]["MailPace"];
            /** @description Required for the way `message`. */
            notifyVia?: components["schemas"]["ViaToSave"] | null;
            /**
             * Language
             * @default en
             */
            language?: string;
            hours?: components["schemas"]["RouteHoursToSave"] | null;
        };
        /** SetupInstructions */
        SetupInstructions: {
            /** Webhookrequired */
            webhookRequired: boolean;
            /** Webhookpath */
            webhookPath: string;
            /** Title */
            title: string;
            /** Steps */
            steps: string[];
            /** Docsurl */
            docsUrl: string;
        };
        /** Snippet */
        Snippet: {
            /** Id */
            id: number;
            /** Name */
            name: string;
            /**
             * Text
             * @description Markdown; `{{name}}` stands for the name of the person who gets it.
             */
            text: string;
            /**
             * Userid
             * @description Whose own it is; null for one of a team or of all.
             */
            userId: string | null;
            /**
             * Teamid
             * @description The team whose it is.
             */
            teamId: number | null;
            /** Createdat */
            createdAt: string;
            /** Updatedat */
            updatedAt: string;
        };
        /** SnippetList */
        SnippetList: {
            /** Snippets */
            snippets: components["schemas"]["Snippet"][];
            /** Next */
            next: number | null;
        };
        /** Socket */
        Socket: {
            /** Channelid */
            channelId: string;
            /** Channelname */
            channelName: string;
            /** Status */
            status: string;
            /** Connectedsince */
            connectedSince: string;
        };
        /** Source */
        Source: {
            /** Id */
            id: number;
            /** Knowledgebaseid */
            knowledgeBaseId: number;
            /**
             * Kind
             * @enum {string}
             */
            kind: "web" | "drive";
            /** Address */
            address: string;
            /**
             * Instanceid
             * @description The channel instance that feeds a folder.
             */
            instanceId: number | null;
            /**
             * Every
             * @description Minutes between two passes; null: it was read once.
             */
            every: number | null;
            /** Createdby */
            createdBy: string;
            /** Createdat */
            createdAt: string;
            /**
             * State
             * @enum {string}
             */
            state: "waiting" | "reading" | "idle";
            /**
             * Readat
             * @description The end of the last pass.
             */
            readAt: string | null;
            /** Nextat */
            nextAt: string | null;
            /**
             * Error
             * @description Why the last pass could not be ended well.
             */
            error: string | null;
            /**
             * Note
             * @description What is passed over.
             */
            note: string | null;
            /**
             * Found
             * @description Pages or files that it names.
             */
            found: number;
            /**
             * Read
             * @description Those that are found in the base.
             */
            read: number;
            /**
             * Failed
             * @description Those that say why they are not read.
             */
            failed: number;
            /**
             * Waiting
             * @description Those still to be read in this pass.
             */
            waiting: number;
        };
        /** SourceAnswer */
        SourceAnswer: {
            source: components["schemas"]["Source"];
        };
        /** SourceList */
        SourceList: {
            /** Sources */
            sources: components["schemas"]["Source"][];
            /** Next */
            next: number | null;
        };
        /** SourcePage */
        SourcePage: {
            /** Id */
            id: number;
            /** Address */
            address: string;
            /** Name */
            name: string;
            /**
             * Status
             * @description A page that failed keeps what was read before; one that is skipped or gone does not.
             * @enum {string}
             */
            status: "waiting" | "processing" | "read" | "failed" | "skipped" | "gone" | "listed";
            /** Error */
            error: string | null;
            /** Readat */
            readAt: string | null;
            /**
             * Fileid
             * @description The file of the base that it is found as.
             */
            fileId: string | null;
        };
        /** SourcePageList */
        SourcePageList: {
            /** Pages */
            pages: components["schemas"]["SourcePage"][];
            /** Next */
            next: number | null;
        };
        /** SplitConversation */
        SplitConversation: {
            /** Instanceid */
            instanceId: number;
            /** Sessionid */
            sessionId: string;
        };
        /** SplitIdentity */
        SplitIdentity: {
            /** Field */
            field: string;
            /** Value */
            value: string;
        };
        /** SplitPerson */
        SplitPerson: {
            /**
             * Conversations
             * @default []
             */
            conversations?: components["schemas"]["SplitConversation"][];
            /**
             * Identities
             * @description The conversations in which one of them was proved.
             * @default []
             */
            identities?: components["schemas"]["SplitIdentity"][];
        };
        /** StartEmail */
        StartEmail: {
            /** Email */
            email: string;
        };
        /** StoredCredentialsToCheck */
        StoredCredentialsToCheck: {
            /**
             * Config
             * @description Left out: as it is stored. The stored secrets stand for those that it leaves out.
             */
            config?: {
                [key: string]: unknown;
            } | null;
        };
        /** SubscriptionAnswer */
        SubscriptionAnswer: {
            /** Success */
            success: boolean;
            subscription: components["schemas"]["EventSubscription"];
            health: components["schemas"]["ActivityHealth"];
            /**
             * Pending
             * @description Pushes on their way.
             */
            pending: number;
            /**
             * Dead
             * @description Pushes that were given up.
             */
            dead: number;
            /**
             * Secret
             * @description Shown once.
             */
            secret?: string | null;
        };
        /** SubscriptionList */
        SubscriptionList: {
            /** Subscriptions */
            subscriptions: components["schemas"]["EventSubscription"][];
            /** Next */
            next: number | null;
        };
        /** Team */
        Team: {
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Members */
            members: components["schemas"]["Member"][];
            /** @description Null: the team has no hours. */
            hours: components["schemas"]["RouteHours"] | null;
            /**
             * Awaytext
             * @description What those who want a person are sent outside of the hours.
             */
            awayText: string;
            /** Createdat */
            createdAt: string;
        };
        /** TeamList */
        TeamList: {
            /** Teams */
            teams: components["schemas"]["Team"][];
            /** Next */
            next: number | null;
        };
        /** TemplateToSend */
        TemplateToSend: {
            /** Name */
            name: string;
            /**
             * Language
             * @description As the platform names it.
             */
            language: string;
            /**
             * Parameters
             * @description They fill the placeholders in their order.
             * @default []
             */
            parameters?: string[];
        };
        /** TestAgent */
        TestAgent: {
            /** Text */
            text: string;
        };
        /** TextWindow */
        TextWindow: {
            /** Fileid */
            fileId: string;
            /** Filename */
            fileName: string;
            /** Text */
            text: string;
            /**
             * Offset
             * @description Where the text begins in the whole one, in characters.
             */
            offset: number;
            /**
             * Length
             * @description Characters of the whole text; 0 until the file can be found.
             */
            length: number;
            /**
             * Remaining
             * @description Characters behind these.
             */
            remaining: number;
            /**
             * Next
             * @description The offset to read on; null behind the last.
             */
            next: number | null;
        };
        /** TimelineStep */
        TimelineStep: {
            /**
             * Kind
             * @description Inbound: received, asked (the resource), tool_asked, tool_decided, answered, done (without an answer of the resource), failed or changed (the conversation). Outbound: written, queued, sent, delivered, read or dead.
             * @enum {string}
             */
            kind: "received" | "asked" | "tool_asked" | "tool_decided" | "answered" | "done" | "failed" | "changed" | "written" | "queued" | "sent" | "delivered" | "read" | "dead";
            /**
             * At
             * @description Null where no time is on record.
             */
            at: string | null;
            /**
             * Part
             * @description Which of the messages into which the channel split it.
             */
            part: number | null;
            /**
             * Attempts
             * @description Tries so far.
             */
            attempts: number | null;
            /**
             * Reason
             * @description Why it failed, or the last try did.
             */
            reason: string | null;
            /** Tool */
            tool: string | null;
            /**
             * Parameters
             * @description Those that were shown with the question.
             */
            parameters?: {
                [key: string]: unknown;
            } | null;
            /** Decision */
            decision: ("approved" | "approved_for_session" | "rejected" | "expired" | "withdrawn") | null;
            /**
             * Decider
             * @description Who decided, or is asked to: user:ID or team:ID.
             */
            decider: string | null;
            /**
             * Nextattemptat
             * @description When it is tried again.
             */
            nextAttemptAt: string | null;
            /**
             * Platformid
             * @description What the platform calls the message.
             */
            platformId: string | null;
            /**
             * Resource
             * @description The resource that was asked.
             */
            resource?: string | null;
            /**
             * Route
             * @description Why that one was asked, where it is not the instance's own.
             */
            route?: string | null;
            /**
             * Change
             * @description What the answer did to the conversation.
             */
            change?: string | null;
        };
        /** TrialAnswer */
        TrialAnswer: {
            /**
             * Text
             * @description Markdown; at most the first 20,000 characters.
             */
            text: string;
            /**
             * Files
             * @description Names of files.
             */
            files: string[];
            /**
             * Choices
             * @description Labels of choices.
             */
            choices: string[];
            /**
             * Tool
             * @description The tool that it asks to use; empty for none.
             */
            tool: string;
            /** Wantsperson */
            wantsPerson: boolean;
            /**
             * Error
             * @description Why it gave no answer; empty where it did.
             */
            error: string;
            /** Seconds */
            seconds: number;
            /** @description null where the resource does not tell it. */
            usage: components["schemas"]["Usage"] | null;
        };
        /** TryResource */
        TryResource: {
            /** Downstreamresourceid */
            downStreamResourceId: string;
            /**
             * Text
             * @default
             */
            text?: string;
            /**
             * Ask
             * @description Asks the resource for real.
             * @default false
             */
            ask?: boolean;
        };
        /** UnansweredList */
        UnansweredList: {
            /** Unanswered */
            unanswered: components["schemas"]["UnansweredRecord"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** UnansweredRecord */
        UnansweredRecord: {
            /** Id */
            id: number;
            /**
             * Reason
             * @description One word, such as list or auto-submitted.
             */
            reason: string;
            /** Sender */
            sender: string;
            /** Sendername */
            senderName: string;
            /** Subject */
            subject: string;
            /**
             * Text
             * @description Its beginning.
             */
            text: string;
            /** Receivedat */
            receivedAt: string;
        };
        /** UnreadAnswer */
        UnreadAnswer: {
            /**
             * Unread
             * @description At most 1000: there may be more.
             */
            unread: number;
        };
        /** UpdateInstance */
        UpdateInstance: {
            /**
             * Routes
             * @description At most 20: messages for which `when` holds go to the resource `to`; the first that fits.
             */
            routes?: components["schemas"]["RouteToSave"][] | null;
            /**
             * Fallback
             * @description At most 5 resource ids, asked in turn where a resource fails.
             */
            fallback?: string[] | null;
            /**
             * Feedback
             * @description Ask people whether an answer helped.
             */
            feedback?: boolean | null;
            /**
             * Approvalpolicy
             * @description At most 50 rules: who decides before a tool is used; of each tool the first that fits.
             */
            approvalPolicy?: components["schemas"]["ApprovalRule"][] | null;
            /** Config */
            config: {
                [key: string]: unknown;
            };
            /** Downstreamresourceid */
            downStreamResourceId?: string | null;
            /** Channelname */
            channelName?: string | null;
        };
        /** UpdateKnowledgeBase */
        UpdateKnowledgeBase: {
            /** Name */
            name?: string | null;
            /** Description */
            description?: string | null;
        };
        /** UpdatedInstance */
        UpdatedInstance: {
            /** Success */
            success: boolean;
            /** Message */
            message: string;
            /** Instanceid */
            instanceId: number;
            /**
             * Microserviceconnected
             * @description Whether a worker is alive.
             */
            microserviceConnected: boolean;
            /**
             * Webhookregistered
             * @description Present only for bot-messenger instances. False with webhookError null: updates are fetched.
             */
            webhookRegistered?: boolean | null;
            /** Webhookerror */
            webhookError: string | null;
        };
        /** UploadAnswer */
        UploadAnswer: {
            /** Message */
            message: string;
            /** Files */
            files: components["schemas"]["UploadedFile"][];
            /**
             * Fileid
             * @description This and the following only for a single file.
             */
            fileId?: string | null;
            /** Filehash */
            fileHash?: string | null;
            /** Filename */
            fileName?: string | null;
            /** Filesize */
            fileSize?: number | null;
            /** Mimetype */
            mimeType?: string | null;
        };
        /** UploadRules */
        UploadRules: {
            /** Maxfilebytes */
            maxFileBytes: number;
            /** Maxfiles */
            maxFiles: number;
            /** Formats */
            formats: components["schemas"]["FileFormat"][];
        };
        /** UploadedFile */
        UploadedFile: {
            /**
             * Fileid
             * @description Lower-case hex SHA-256 of the bytes.
             */
            fileId: string;
            /** Filename */
            fileName: string;
            /**
             * Filesize
             * @description In bytes.
             */
            fileSize: number;
            /** Mimetype */
            mimeType: string;
            /**
             * Status
             * @description Only with Prefer: respond-async.
             */
            status?: ("processing" | "ready" | "failed") | null;
        };
        /** Usage */
        Usage: {
            /**
             * Inputtokens
             * @description Tokens that models read.
             */
            inputTokens: number;
            /**
             * Outputtokens
             * @description Tokens that models wrote.
             */
            outputTokens: number;
        };
        /** UsageList */
        UsageList: {
            /** Usage */
            usage: components["schemas"]["UsageRecord"][];
            /**
             * Next
             * @description The cursor of the next page; null on the last one.
             */
            next: string | null;
        };
        /** UsageRecord */
        UsageRecord: {
            /**
             * Day
             * @description In UTC; null where the sums are not split by it.
             */
            day: string | null;
            /**
             * Instanceid
             * @description 0 for tests and questions that came to no instance; null where the sums are not split by it.
             */
            instanceId: number | null;
            /**
             * Resourceid
             * @description The agent, all of its experts together; null where the sums are not split by it.
             */
            resourceId: string | null;
            /**
             * Userid
             * @description The sender's user, or the owner of the instance for a sender who is not verified; null where the sums are not split by it.
             */
            userId: string | null;
            /**
             * Currency
             * @description Of `cost`; null for runs without prices.
             */
            currency: string | null;
            /**
             * Runs
             * @description How often resources were asked.
             */
            runs: number;
            /**
             * Inputtokens
             * @description Tokens that models read.
             */
            inputTokens: number;
            /**
             * Outputtokens
             * @description Tokens that models wrote.
             */
            outputTokens: number;
            /**
             * Seconds
             * @description How long the runs took.
             */
            seconds: number;
            /**
             * Cost
             * @description 0 without prices.
             */
            cost: number;
        };
        /** User */
        User: {
            /** Id */
            id: string;
            /**
             * Name
             * @description Empty where nobody said it.
             */
            name: string;
            /**
             * Email
             * @description In lower case; empty where it is not known.
             */
            email: string;
            role: components["schemas"]["Role"];
            state: components["schemas"]["UserState"];
            /** Createdat */
            createdAt: string;
            /**
             * Lastseenat
             * @description The last call, to about five minutes.
             */
            lastSeenAt: string | null;
        };
        /** UserList */
        UserList: {
            /** Users */
            users: components["schemas"]["User"][];
            /** Next */
            next: string | null;
        };
        /**
         * UserState
         * @description A suspended user has no key and no session any more.
         * @enum {string}
         */
        UserState: "active" | "suspended";
        /** VerificationProviders */
        VerificationProviders: {
            /** Success */
            success: boolean;
            /** Providers */
            providers: {
                [key: string]: boolean;
            };
        };
        /** VerifiedIdentities */
        VerifiedIdentities: {
            /** Success */
            success: boolean;
            /** Identities */
            identities: components["schemas"]["VerifiedIdentity"][];
        };
        /** VerifiedIdentity */
        VerifiedIdentity: {
            /** Field */
            field: string;
            /** Value */
            value: string;
        };
        /** VerifyEmail */
        VerifyEmail: {
            /**
             * Otp
             * @description The 6 digits that were sent.
             */
            otp: string;
        };
        /** Via */
        Via: {
            /** Instanceid */
            instanceId: number;
            /** To */
            to: string;
        };
        /** ViaToSave */
        ViaToSave: {
            /**
             * Instanceid
             * @description The user needs the permission level 2 (ANSWER) on it.
             */
            instanceId: number;
            /**
             * To
             * @description A session id, or an address of the channel.
             */
            to: string;
        };
        /** Voter */
        Voter: {
            /** Externalid */
            externalId: string;
            /** Displayname */
            displayName: string;
        };
        /**
         * Way
         * @description How a notification reaches a user beside the console, which shows all.
         * @enum {string}
         */
        Way: "mail" | "message";
        /** Counts */
        adapters__inbound__rest__conversations__Counts: {
            /**
             * Mine
             * @description Open ones that are assigned to you.
             */
            mine: number;
            /**
             * Teams
             * @description Open ones that are assigned to your teams.
             */
            teams: number;
            /**
             * Unassigned
             * @description Open ones of nobody.
             */
            unassigned: number;
            /** Open */
            open: number;
            /** Snoozed */
            snoozed: number;
            /** Closed */
            closed: number;
            /**
             * Wantsperson
             * @description Those for which a person is asked for, and which nobody has taken over.
             */
            wantsPerson: number;
            /**
             * Failed
             * @description Those with a message that was given up.
             */
            failed: number;
        };
        /** Counts */
        adapters__inbound__rest__monitoring__Counts: {
            /** Received */
            received: number;
            /**
             * Answered
             * @description Answers that reached the platform.
             */
            answered: number;
            /**
             * Failed
             * @description Messages of both directions that were given up.
             */
            failed: number;
            /**
             * P50Seconds
             * @description From a message to its answer: half of the answers took at most so long.
             */
            p50Seconds: number | null;
            /**
             * P95Seconds
             * @description 95 % of the answers took at most so long.
             */
            p95Seconds: number | null;
        };
        /**
         * ErrorBody
         * @description Every error of the service.
         */
        ErrorBody: {
            /**
             * Error
             * @description What is wrong, with which field, and how to mend it.
             */
            error: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_definitions_api_agent_channels_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelDefinition"][];
                };
            };
        };
    };
    create_instance_api_agent_channels_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInstance"];
            };
        };
        responses: {
            /** @description The instance named by id was updated. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedInstance"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedInstance"];
                };
            };
        };
    };
    status_api_agent_channels_status_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelStatus"];
                };
            };
        };
    };
    definition_api_agent_channels__type__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a channel. */
                type: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelDefinition"];
                };
            };
        };
    };
    list_instances_api_agent_channel_instances_get: {
        parameters: {
            query?: {
                /** @description `shared`: those of others that are shared with the caller; `all`: both, for an admin those of everybody. */
                scope?: "own" | "shared" | "all";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelInstance"][];
                };
            };
        };
    };
    create_instance_api_agent_channel_instances_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInstance"];
            };
        };
        responses: {
            /** @description The instance named by id was updated. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedInstance"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedInstance"];
                };
            };
        };
    };
    get_instance_api_agent_channel_instances__instanceId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelInstance"];
                };
            };
        };
    };
    update_instance_api_agent_channel_instances__instanceId__put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateInstance"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdatedInstance"];
                };
            };
        };
    };
    delete_instance_api_agent_channel_instances__instanceId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedInstance"];
                };
            };
        };
    };
    set_trusted_api_agent_channel_instances__instanceId__trusted_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InstanceTrust"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelInstance"];
                };
            };
        };
    };
    delete_instance_api_agent_channels_instance__instanceId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedInstance"];
                };
            };
        };
    };
    request_pairing_api_agent_channel_instances__instanceId__request_pairing_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PairingAnswer"];
                };
            };
        };
    };
    health_api_agent_channel_instances__instanceId__health_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceHealth"];
                };
            };
        };
    };
    deliveries_api_agent_channel_instances__instanceId__deliveries_get: {
        parameters: {
            query?: {
                /** @description Only deliveries in this state. */
                status?: ("pending" | "sent" | "dead") | null;
                /** @description How many, 1 to 1000. */
                limit?: number;
                /** @description How many to leave out at the beginning. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryList"];
                };
            };
        };
    };
    replay_api_agent_channel_instances__instanceId__deliveries__deliveryId__replay_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a delivery. */
                deliveryId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    drop_api_agent_channel_instances__instanceId__deliveries__deliveryId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a delivery. */
                deliveryId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    unanswered_api_agent_channel_instances__instanceId__unanswered_get: {
        parameters: {
            query?: {
                /** @description How many, 1 to 1000. */
                limit?: number;
                /** @description How many to leave out at the beginning. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnansweredList"];
                };
            };
        };
    };
    release_api_agent_channel_instances__instanceId__unanswered__unansweredId__release_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a message that is not answered. */
                unansweredId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    list_permissions_api_agent_channel_instances__instanceId__permissions_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstancePermissions"];
                };
            };
        };
    };
    set_permission_api_agent_channel_instances__instanceId__permissions_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InstancePermissionBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    form_api_agent_channel_forms__type__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a channel. */
                type: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelForm"];
                };
            };
        };
    };
    check_api_agent_channel_forms__type__check_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a channel. */
                type: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfigToCheck"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigFaults"];
                };
            };
        };
    };
    check_credentials_api_agent_channel_forms__type__check_credentials_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a channel. */
                type: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CredentialsToCheck"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialsAnswer"];
                };
            };
        };
    };
    check_change_api_agent_channel_instances__instanceId__check_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfigToCheck"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigFaults"];
                };
            };
        };
    };
    check_stored_credentials_api_agent_channel_instances__instanceId__check_credentials_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StoredCredentialsToCheck"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialsAnswer"];
                };
            };
        };
    };
    list_all_conversations_api_agent_conversations_get: {
        parameters: {
            query?: {
                /** @description Only these instances, separated by commas. */
                instanceId?: number[];
                /** @description Looked for in the name and id of the sender and in the texts. */
                query?: string;
                /** @description Only those with (true) or without (false) messages that have no answer yet. */
                waiting?: boolean | null;
                /** @description Only those that a person or the resource has. */
                handler?: ("resource" | "person") | null;
                /** @description Only those of this assignee: `user:ID`, `team:` with an id or a name, `me`, `teams` (each team of yours) or `none`. */
                assignee?: string | null;
                /** @description Only those with this label. */
                label?: string | null;
                /** @description Only those in this state. */
                state?: components["schemas"]["ConversationState"] | null;
                /** @description Only those of instances of this channel. */
                channelId?: string | null;
                /** @description Only those for which a person is asked for, and which nobody has taken over. */
                wantsPerson?: boolean;
                /** @description Only those with a message that was given up. */
                failed?: boolean;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationList"];
                };
            };
        };
    };
    count_conversations_api_agent_conversations_counts_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["adapters__inbound__rest__conversations__Counts"];
                };
            };
        };
    };
    list_conversations_api_agent_channel_instances__instanceId__conversations_get: {
        parameters: {
            query?: {
                /** @description That conversation alone. */
                sessionId?: string | null;
                /** @description Looked for in the name and id of the sender and in the texts. */
                query?: string;
                /** @description Only those with (true) or without (false) messages that have no answer yet. */
                waiting?: boolean | null;
                /** @description Only those that a person or the resource has. */
                handler?: ("resource" | "person") | null;
                /** @description Only those of this assignee: `user:ID`, `team:` with an id or a name, `me`, `teams` (each team of yours) or `none`. */
                assignee?: string | null;
                /** @description Only those with this label. */
                label?: string | null;
                /** @description Only those in this state. */
                state?: components["schemas"]["ConversationState"] | null;
                /** @description Only those of instances of this channel. */
                channelId?: string | null;
                /** @description Only those for which a person is asked for, and which nobody has taken over. */
                wantsPerson?: boolean;
                /** @description Only those with a message that was given up. */
                failed?: boolean;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationList"];
                };
            };
        };
    };
    list_messages_api_agent_channel_instances__instanceId__conversations__sessionId__messages_get: {
        parameters: {
            query?: {
                /** @description From the end of the chat to its beginning. */
                latestFirst?: boolean;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a conversation, as its messages have it. */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageList"];
                };
            };
        };
    };
    erase_conversation_api_agent_channel_instances__instanceId__conversations__sessionId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a conversation, as its messages have it. */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    failed_messages_api_agent_channel_instances__instanceId__messages_get: {
        parameters: {
            query: {
                /** @description What was given up. */
                status: "failed";
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageList"];
                };
            };
        };
    };
    send_message_api_agent_channel_instances__instanceId__messages_post: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 printable ASCII characters without blanks. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendMessage"];
            };
        };
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageQueued"];
                };
            };
        };
    };
    rerun_message_api_agent_channel_instances__instanceId__messages__messageId__rerun_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    set_handler_api_agent_channel_instances__instanceId__conversations__sessionId__handler_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a conversation, as its messages have it. */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetHandler"];
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    change_conversation_api_agent_channel_instances__instanceId__conversations__sessionId__state_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a conversation, as its messages have it. */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeConversation"];
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    add_note_api_agent_channel_instances__instanceId__conversations__sessionId__notes_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a conversation, as its messages have it. */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddNote"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationMessage"];
                };
            };
        };
    };
    get_message_api_agent_channel_instances__instanceId__messages__messageId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationMessage"];
                };
            };
        };
    };
    get_timeline_api_agent_channel_instances__instanceId__messages__messageId__timeline_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageTimeline"];
                };
            };
        };
    };
    list_approvals_api_agent_approvals_get: {
        parameters: {
            query?: {
                /** @description waiting or decided; without it all. */
                state?: components["schemas"]["ApprovalState"] | null;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalList"];
                };
            };
        };
    };
    get_approval_api_agent_approvals__approvalId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an approval. */
                approvalId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    decide_approval_api_agent_approvals__approvalId__decision_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an approval. */
                approvalId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecideApproval"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    list_snippets_api_agent_snippets_get: {
        parameters: {
            query?: {
                /** @description A part of the name or the text. */
                query?: string;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SnippetList"];
                };
            };
        };
    };
    create_snippet_api_agent_snippets_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSnippet"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snippet"];
                };
            };
        };
    };
    get_snippet_api_agent_snippets__snippetId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a snippet. */
                snippetId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snippet"];
                };
            };
        };
    };
    change_snippet_api_agent_snippets__snippetId__put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a snippet. */
                snippetId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeSnippet"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snippet"];
                };
            };
        };
    };
    delete_snippet_api_agent_snippets__snippetId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a snippet. */
                snippetId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_all_feedback_api_agent_feedback_get: {
        parameters: {
            query?: {
                /** @description Only these instances, separated by commas. */
                instanceId?: number[];
                /** @description Only these votes. */
                rating?: ("up" | "down") | null;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedbackList"];
                };
            };
        };
    };
    list_feedback_api_agent_channel_instances__instanceId__feedback_get: {
        parameters: {
            query?: {
                /** @description Only these votes. */
                rating?: ("up" | "down") | null;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedbackList"];
                };
            };
        };
    };
    export_feedback_api_agent_feedback_export_get: {
        parameters: {
            query?: {
                /** @description Only these instances, separated by commas. */
                instanceId?: number[];
                /** @description CSV, or one JSON object on each line. */
                format?: "csv" | "ndjson";
                /** @description Only these votes. */
                rating?: ("up" | "down") | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The votes, the latest first, at most 10,000. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                    "application/x-ndjson": string;
                };
            };
        };
    };
    list_people_api_agent_people_get: {
        parameters: {
            query?: {
                /** @description Looked for in names, in ids at the platforms and in identities. */
                query?: string;
                /** @description Only those who have this label. */
                label?: string | null;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PersonList"];
                };
            };
        };
    };
    list_privacy_requests_api_agent_people_requests_get: {
        parameters: {
            query?: {
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrivacyRequestList"];
                };
            };
        };
    };
    get_privacy_request_api_agent_people_requests__requestId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an export or an erasure. */
                requestId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrivacyRequest"];
                };
            };
        };
    };
    export_person_api_agent_people__personId__export_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a person. */
                personId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrivacyRequest"];
                };
            };
        };
    };
    erase_person_api_agent_people__personId__erase_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a person. */
                personId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrivacyRequest"];
                };
            };
        };
    };
    get_person_api_agent_people__personId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a person. */
                personId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    change_person_api_agent_people__personId__put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a person. */
                personId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PersonFields"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    merge_people_api_agent_people__personId__merge_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a person. */
                personId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MergedPeople"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    split_person_api_agent_people__personId__split_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a person. */
                personId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SplitPerson"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    list_notifications_api_agent_notifications_get: {
        parameters: {
            query?: {
                /** @description Only those that are unread. */
                unread?: boolean;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationList"];
                };
            };
        };
    };
    count_unread_api_agent_notifications_unread_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnreadAnswer"];
                };
            };
        };
    };
    mark_read_api_agent_notifications_read_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MarkRead"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
        };
    };
    get_settings_api_agent_me_notifications_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingsAnswer"];
                };
            };
        };
    };
    set_settings_api_agent_me_notifications_put: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingsToSave"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingsAnswer"];
                };
            };
        };
    };
    watch_api_agent_events_get: {
        parameters: {
            query?: {
                /** @description Only these kinds of events, separated by commas. */
                kinds?: ("message.received" | "message.answered" | "message.failed" | "message.feedback" | "delivery.sent" | "delivery.dead" | "confirmation.asked" | "confirmation.decided" | "conversation.handler" | "conversation.changed" | "conversation.note" | "instance.health" | "upload.ready" | "upload.failed" | "identity.verified" | "budget.reached" | "notification.created")[];
                /** @description Only these instances, separated by commas. */
                instanceId?: number[];
                /** @description Go on behind the event of this id; without it, from now on. */
                after?: number | null;
            };
            header?: {
                /** @description As `after`, and counts before it: browsers send it when they connect again. */
                "Last-Event-ID"?: number | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Each event with its id, its kind, and as data an object with id, kind, at, instanceId, sessionId and data. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    list_agents_api_agent_agents_get: {
        parameters: {
            query?: {
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentList"];
                };
            };
        };
    };
    create_api_agent_agents_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    get_api_agent_agents__agentId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an agent. */
                agentId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    update_api_agent_agents__agentId__put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an agent. */
                agentId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    delete_api_agent_agents__agentId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an agent. */
                agentId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    set_trusted_api_agent_agents__agentId__trusted_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an agent. */
                agentId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentTrust"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    test_api_agent_agents__agentId__test_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an agent. */
                agentId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestAgent"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentTest"];
                };
            };
        };
    };
    list_permissions_api_agent_agents__agentId__permissions_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an agent. */
                agentId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPermissions"];
                };
            };
        };
    };
    set_permission_api_agent_agents__agentId__permissions_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an agent. */
                agentId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentPermissionBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_subscriptions_api_agent_event_subscriptions_get: {
        parameters: {
            query?: {
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionList"];
                };
            };
        };
    };
    create_api_agent_event_subscriptions_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSubscription"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionAnswer"];
                };
            };
        };
    };
    get_api_agent_event_subscriptions__subscriptionId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a subscription. */
                subscriptionId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionAnswer"];
                };
            };
        };
    };
    change_api_agent_event_subscriptions__subscriptionId__put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a subscription. */
                subscriptionId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeSubscription"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionAnswer"];
                };
            };
        };
    };
    remove_api_agent_event_subscriptions__subscriptionId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a subscription. */
                subscriptionId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    test_api_agent_event_subscriptions__subscriptionId__test_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a subscription. */
                subscriptionId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PushTestAnswer"];
                };
            };
        };
    };
    deliveries_api_agent_event_subscriptions__subscriptionId__deliveries_get: {
        parameters: {
            query?: {
                /** @description Only deliveries in this state. */
                status?: ("pending" | "sent" | "dead") | null;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of a subscription. */
                subscriptionId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PushList"];
                };
            };
        };
    };
    replay_api_agent_event_subscriptions__subscriptionId__deliveries__pushId__replay_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a subscription. */
                subscriptionId: number;
                /** @description Id of a push. */
                pushId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    list_schedules_api_agent_schedules_get: {
        parameters: {
            query?: {
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleList"];
                };
            };
        };
    };
    run_api_agent_schedules__instanceId__run_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    rules_api_agent_resources_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResourceRules"];
                };
            };
        };
    };
    try_out_api_agent_resources_try_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TryResource"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResourceTrial"];
                };
            };
        };
    };
    list_keys_api_agent_keys_get: {
        parameters: {
            query?: {
                /** @description `key` for API keys, `session` for sessions in browsers. */
                kind?: "key" | "session";
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
        };
    };
    create_api_agent_keys_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKey"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedKeyAnswer"];
                };
            };
        };
    };
    revoke_api_agent_keys__keyId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an API key or of a session. */
                keyId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    me_api_agent_me_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MeAnswer"];
                };
            };
        };
    };
    list_users_api_agent_users_get: {
        parameters: {
            query?: {
                /** @description What an id, a name or an e-mail address begins with. */
                query?: string;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserList"];
                };
            };
        };
    };
    create_user_api_agent_users_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUser"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    get_user_api_agent_users__userId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a user. */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    change_user_api_agent_users__userId__put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a user. */
                userId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeUser"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    delete_user_api_agent_users__userId__delete: {
        parameters: {
            query?: {
                /** @description The user who gets what this one owns: instances, knowledge bases, agents. */
                successor?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of a user. */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_teams_api_agent_teams_get: {
        parameters: {
            query?: {
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeamList"];
                };
            };
        };
    };
    create_team_api_agent_teams_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTeam"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    get_team_api_agent_teams__teamId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a team. */
                teamId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    change_team_api_agent_teams__teamId__put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a team. */
                teamId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeTeam"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    delete_team_api_agent_teams__teamId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a team. */
                teamId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_invitations_api_agent_invitations_get: {
        parameters: {
            query?: {
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationList"];
                };
            };
        };
    };
    create_invitation_api_agent_invitations_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInvitation"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedAnswer"];
                };
            };
        };
    };
    revoke_invitation_api_agent_invitations__invitationId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an invitation. */
                invitationId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_passkeys_api_agent_passkeys_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeyList"];
                };
            };
        };
    };
    remove_passkey_api_agent_passkeys__passkeyId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a passkey. */
                passkeyId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    reset_passkeys_api_agent_users__userId__passkeys_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a user. */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasskeysRemoved"];
                };
            };
        };
    };
    list_entries_api_agent_audit_get: {
        parameters: {
            query?: {
                /** @description Only what this user did. */
                actor?: string;
                /** @description One action, or all on a kind of object. */
                action?: string;
                /** @description Only on this object. */
                object?: string;
                /** @description Not before this time. */
                after?: string | null;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditLog"];
                };
            };
        };
    };
    export_entries_api_agent_audit_export_get: {
        parameters: {
            query?: {
                /** @description CSV, or one JSON object on each line. */
                format?: "csv" | "ndjson";
                /** @description Only what this user did. */
                actor?: string;
                /** @description One action, or all on a kind of object. */
                action?: string;
                /** @description Only on this object. */
                object?: string;
                /** @description Not before this time. */
                after?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries, the latest first, at most 100,000. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                    "application/x-ndjson": string;
                };
            };
        };
    };
    list_dead_letters_api_agent_dead_letters_get: {
        parameters: {
            query?: {
                /** @description Only of this instance. */
                instanceId?: number | null;
                /** @description Only messages of senders (in) or to them (out). */
                direction?: components["schemas"]["Direction"] | null;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterList"];
                };
            };
        };
    };
    get_dead_letter_api_agent_dead_letters__instanceId___messageId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an instance. */
                instanceId: number;
                /** @description Id of a message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterAnswer"];
                };
            };
        };
    };
    replay_dead_letters_api_agent_dead_letters_replay_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChosenDeadLetters"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterResults"];
                };
            };
        };
    };
    drop_dead_letters_api_agent_dead_letters_drop_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChosenDeadLetters"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterResults"];
                };
            };
        };
    };
    list_health_api_agent_instance_health_get: {
        parameters: {
            query?: {
                /** @description Only instances that are not healthy. */
                failing?: boolean;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthList"];
                };
            };
        };
    };
    get_figures_api_agent_figures_get: {
        parameters: {
            query?: {
                /** @description Only of this instance. */
                instanceId?: number | null;
                /** @description The last hour by minutes, or the last day by half hours. */
                period?: components["schemas"]["Period"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FigureReport"];
                };
            };
        };
    };
    list_findings_api_agent_doctor_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FindingList"];
                };
            };
        };
    };
    list_reports_api_agent_reports_get: {
        parameters: {
            query?: {
                /** @description What there is a row for each of, separated by commas: day, instance, team, person (a colleague); all for one row in all. By the day where it is not given. */
                by?: string[];
                /** @description The first day, in UTC; 29 days before the last one where it is not given. */
                from?: string | null;
                /** @description The last day, included; today where it is not given. At most 400 days in all. */
                to?: string | null;
                /** @description Only these instances, separated by commas. */
                instanceId?: number[];
                /** @description csv for a file of all pages. */
                format?: ("json" | "csv") | null;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows; as CSV at most 20,000. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportList"];
                    "text/csv": string;
                };
            };
        };
    };
    list_usage_api_agent_usage_get: {
        parameters: {
            query?: {
                /** @description What the sums are split by, separated by commas: day, instance, agent, user. */
                by?: string[];
                /** @description The first day, in UTC; the first of this month where it is not given. */
                from?: string | null;
                /** @description The last day, included; today where it is not given. */
                to?: string | null;
                /** @description Only these instances, separated by commas. */
                instanceId?: number[];
                /** @description csv for a file of all pages; also by `Accept: text/csv`. */
                format?: ("json" | "csv") | null;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sums; as CSV at most 10,000. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageList"];
                    "text/csv": string;
                };
            };
        };
    };
    list_budgets_api_agent_budgets_get: {
        parameters: {
            query?: {
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetList"];
                };
            };
        };
    };
    set_budget_api_agent_budgets_put: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetRecord"];
                };
            };
        };
    };
    delete_budget_api_agent_budgets__budgetId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a budget. */
                budgetId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    providers_api_agent_verification_providers_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerificationProviders"];
                };
            };
        };
    };
    identities_api_agent_verification_identities_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifiedIdentities"];
                };
            };
        };
    };
    remove_identity_api_agent_verification_identities__field___value__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Type of an identity. */
                field: string;
                /** @description Value of an identity. */
                value: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityRemoved"];
                };
            };
        };
    };
    start_email_api_agent_verification_start_email_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartEmail"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CodeSent"];
                };
            };
        };
    };
    verify_email_api_agent_verification_verify_email_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyEmail"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailVerified"];
                };
            };
        };
    };
    start_bot_messenger_api_agent_verification_start_bot_messenger_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BotLinkAnswer"];
                };
            };
        };
    };
    bot_webhook_api_agent_verification_bot_messenger_bot_webhook_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Empty"];
                };
            };
        };
    };
    bot_callback_api_agent_verification_bot_messenger_callback_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BotCallback"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BotVerified"];
                };
            };
        };
    };
    start_workspace_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthUrl"];
                };
            };
        };
    };
    start_gaming_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthUrl"];
                };
            };
        };
    };
    start_community_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthUrl"];
                };
            };
        };
    };
    start_enterprise_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthUrl"];
                };
            };
        };
    };
    callback_api_agent_verification_callback__provider__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description workspace-chat, gaming-chat, community-chat or enterprise-chat. */
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Verified; the page tells its opener and closes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
        };
    };
    upload_rules_api_agent_kb_upload_rules_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadRules"];
                };
            };
        };
    };
    list_states_api_agent_kb__id__file_states_get: {
        parameters: {
            query?: {
                /** @description Only files whose names hold this, in any case. */
                name?: string;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileStateList"];
                };
            };
        };
    };
    get_state_api_agent_kb__id__files__fileId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
                /** @description Hash of a file. */
                fileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileStateAnswer"];
                };
            };
        };
    };
    delete_file_api_agent_kb__id__files__fileId__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
                /** @description Hash of a file. */
                fileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    retry_file_api_agent_kb__id__files__fileId__retry_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
                /** @description Hash of a file. */
                fileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    read_text_api_agent_kb__id__files__fileId__text_get: {
        parameters: {
            query?: {
                /** @description How many, 1 to 1000. */
                limit?: number;
                /** @description How many to leave out at the beginning. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
                /** @description Hash of a file. */
                fileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileTextAnswer"];
                };
            };
        };
    };
    explain_search_api_agent_kb__id__search_explain_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplanationAnswer"];
                };
            };
        };
    };
    add_pages_api_agent_kb__id__pages_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddPages"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceAnswer"];
                };
            };
        };
    };
    list_sources_api_agent_kb__id__sources_get: {
        parameters: {
            query?: {
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceList"];
                };
            };
        };
    };
    list_pages_api_agent_kb__id__sources__sourceId__pages_get: {
        parameters: {
            query?: {
                /** @description Only pages in this state. */
                state?: string;
                /** @description How many, 1 to 200. */
                limit?: number;
                /** @description The value of `next` in the answer before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
                /** @description Id of a source. */
                sourceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourcePageList"];
                };
            };
        };
    };
    read_source_api_agent_kb__id__sources__sourceId__read_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
                /** @description Id of a source. */
                sourceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
        };
    };
    remove_source_api_agent_kb__id__sources__sourceId__delete: {
        parameters: {
            query?: {
                /** @description true: what was read stays in the base. */
                keepFiles?: boolean;
            };
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
                /** @description Id of a source. */
                sourceId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    download_api_agent_kb_download__fileId__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Hash of a file. */
                fileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description The range asked for. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description If-None-Match names this version. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_file_api_agent_kb_file__id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Hash of a file. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileAnswer"];
                };
            };
        };
    };
    read_text_api_agent_kb_file__id__text_get: {
        parameters: {
            query?: {
                /** @description How many characters. */
                limit?: number;
                /** @description How many to leave out at the beginning. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description Hash of a file. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TextWindow"];
                };
            };
        };
    };
    get_chunk_api_agent_kb_chunk__id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a chunk. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChunkAnswer"];
                };
            };
        };
    };
    list_chunks_api_agent_kb_chunks__id__get: {
        parameters: {
            query?: {
                /** @description How many, 1 to 1000. */
                limit?: number;
                /** @description How many to leave out at the beginning. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description Hash of a file. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChunkList"];
                };
            };
        };
    };
    list_files_api_agent_kb__id__files_get: {
        parameters: {
            query?: {
                /** @description How many; without it, all. */
                limit?: number | null;
                /** @description How many to leave out at the beginning. */
                offset?: number;
                /** @description Only these fields of each record, separated by commas. */
                fields?: ("id" | "knowledge_base_id" | "file_name" | "file_path" | "fileHash" | "text" | "created_at" | "updated_at" | "status" | "progress" | "error" | "warnings" | "queuePosition")[];
                /** @description Only files whose names hold this, in any case. */
                name?: string;
            };
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileList"];
                };
            };
        };
    };
    upload_api_agent_kb__id__uploadfile_post: {
        parameters: {
            query?: never;
            header?: {
                /** @description respond-async: answer 202 once the files are stored, before they can be found. */
                Prefer?: string[];
            };
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    files?: string[];
                };
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadAnswer"];
                };
            };
            /** @description Stored; being processed. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadAnswer"];
                };
            };
        };
    };
    list_bases_api_agent_kb_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeBaseList"];
                };
            };
        };
    };
    create_base_api_agent_kb_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKnowledgeBase"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedKnowledgeBase"];
                };
            };
        };
    };
    get_base_api_agent_kb__id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeBaseAnswer"];
                };
            };
        };
    };
    update_base_api_agent_kb__id__put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateKnowledgeBase"];
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    delete_base_api_agent_kb__id__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_permissions_api_agent_kb__id__permissions_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermissionList"];
                };
            };
        };
    };
    set_permission_api_agent_kb__id__permissions_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetPermission"];
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    search_base_api_agent_kb__id__search_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchAnswer"];
                };
            };
        };
    };
    ask_base_api_agent_kb__id__ask_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a knowledge base. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AskRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AskAnswer"];
                };
            };
        };
    };
    download_api_agent_files__token___name__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Signed token of a file. */
                token: string;
                /** @description Name of a file. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
        };
    };
    stream_api_agent_web_chat__publicId__stream_get: {
        parameters: {
            query?: {
                /** @description Go on behind the event of this id; without it, from now on. */
                after?: number | null;
            };
            header?: never;
            path: {
                /** @description Id by which web pages name an instance: its publicId. */
                publicId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is shown, as it changes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    open_session_api_agent_web_chat__publicId__session_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id by which web pages name an instance: its publicId. */
                publicId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenChat"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatSession"];
                };
            };
        };
    };
    post_message_api_agent_web_chat__publicId__messages_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id by which web pages name an instance: its publicId. */
                publicId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PostChatMessage"];
            };
        };
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatMessageTaken"];
                };
            };
        };
    };
    healthz_healthz_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
        };
    };
    readyz_readyz_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ready"];
                };
            };
        };
    };
    show_metrics_metrics_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    callback_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a channel. */
                type: string;
                /** @description Id of an instance. */
                instanceId: string;
                /** @description Name of the callback: `webhook`, or what the channel's page names. */
                callback: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the platform expects: usually an empty or minimal body. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status?: string;
                        requestId?: string;
                        message?: string;
                    };
                };
            };
            /** @description cron: the firing was accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status?: string;
                        requestId?: string;
                    };
                };
            };
        };
    };
    callback_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a channel. */
                type: string;
                /** @description Id of an instance. */
                instanceId: string;
                /** @description Name of the callback: `webhook`, or what the channel's page names. */
                callback: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
                "application/x-www-form-urlencoded": Record<string, never>;
            };
        };
        responses: {
            /** @description What the platform expects: usually an empty or minimal body. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status?: string;
                        requestId?: string;
                        message?: string;
                    };
                };
            };
            /** @description cron: the firing was accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status?: string;
                        requestId?: string;
                    };
                };
            };
        };
    };
}
