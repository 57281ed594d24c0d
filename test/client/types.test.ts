import { test } from 'bun:test'
import type { z } from 'zod'
import type * as client from '../../src/client/client.ts'
import type { App } from '../../src/api/apps/app.ts'
import type * as apps from '../../src/api/apps/schemas.ts'
import type { ConversationList, ConversationsQuery } from '../../src/api/conversations/schemas.ts'
import type { EventsAnswer } from '../../src/api/events/schemas.ts'
import type { Me } from '../../src/api/me/get-me.ts'
import type { OptOutBody, OptOutList, OptOutsQuery, Policy } from '../../src/api/opt-outs/schemas.ts'
import type { Overview } from '../../src/api/overview/schemas.ts'
import type { ConnectionStatus } from '../../src/api/rc/get-connection.ts'
import type { ExtensionsHealth } from '../../src/api/rc/get-health.ts'
import type { ConnectedExtension } from '../../src/api/rc/list-extensions.ts'
import type { MessageState, MessageWithDelivery } from '../../src/api/sms/message.ts'
import type { AttachmentList } from '../../src/api/sms/attachment-schemas.ts'
import type { FailureGroups, FailuresQuery } from '../../src/api/sms/list-failures.ts'
import type { MessagesQuery } from '../../src/api/sms/messages-query.ts'
import type * as sms from '../../src/api/sms/schemas.ts'
import type { Timeline } from '../../src/api/sms/timeline-schema.ts'
import type * as triggers from '../../src/api/triggers/schemas.ts'
import type { UsageDay, UsageQuery } from '../../src/api/usage/schemas.ts'
import type { DeliveryAttempt } from '../../src/api/webhook-deliveries/attempt.ts'
import type * as deliveries from '../../src/api/webhook-deliveries/schemas.ts'
import type { RetryPolicySetting } from '../../src/api/http/retry-policy.ts'
import { type Same, prove } from '../support/same-type.ts'

type Answer<Schema extends z.ZodType> = z.output<Schema>
/** What a query takes, without the page, which the client counts itself. The client takes a time as a text or a `Date`. */
type Filter<Schema extends z.ZodType> = {
  [Name in Exclude<keyof z.output<Schema>, 'page'>]?: Name extends 'startDate' | 'endDate'
    ? string | Date
    : z.output<Schema>[Name]
}
/** The members of a filter or body, whatever their types: the client also takes a `Date` for a time. */
type Names<T> = { [Name in keyof T]-?: unknown }
/** The schema of the connection is one object, in which all but `connected` may be missing. */
type Connected = Extract<client.ConnectionStatus, { connected: true }>

test('every answer of the client has the type of its route', () => {
  prove<Same<client.Accepted, Answer<typeof sms.Accepted>>>()
  prove<Same<client.Attachment, Answer<typeof AttachmentList>['attachments'][number]>>()
  prove<Same<client.NotifiedMessage, Answer<typeof sms.Notified>['messages'][number]>>()
  prove<Same<client.MessageState, Answer<typeof MessageState>>>()
  prove<Same<client.Message, Answer<typeof MessageWithDelivery>>>()
  prove<Same<client.FailureGroup[], Answer<typeof FailureGroups>['failures']>>()
  prove<Same<client.FailuresFilter, Filter<typeof FailuresQuery>>>()
  prove<Same<client.Preview, Answer<typeof sms.Preview>>>()
  prove<Same<client.Timeline, Answer<typeof Timeline>>>()
  prove<Same<client.App, Answer<typeof App>>>()
  prove<Same<client.RegisteredApp, Answer<typeof apps.Registered>>>()
  prove<Same<client.RotatedKey, Answer<typeof apps.RotatedKey>>>()
  prove<Same<client.RotatedSecret, Answer<typeof apps.RotatedSecret>>>()
  prove<Same<client.TestResult, Answer<typeof apps.TestResult>>>()
  prove<Same<client.WebhookEventType[], Answer<typeof apps.WebhookEvents>['events']>>()
  prove<Same<client.RetryPolicy, Answer<typeof RetryPolicySetting>['policy']>>()
  prove<Same<client.Trigger, Answer<typeof triggers.Trigger>>>()
  prove<Same<client.CreatedTrigger, Answer<typeof triggers.CreatedTrigger>>>()
  prove<Same<client.DeliveryAttempt, Answer<typeof DeliveryAttempt>>>()
  prove<Same<client.Redelivered, Answer<typeof deliveries.Redelivered>>>()
  prove<Same<client.Recovered, Answer<typeof deliveries.Recovered>>>()
  prove<Same<client.Dismissed, Answer<typeof deliveries.Dismissed>>>()
  prove<Same<client.ConnectionStatus, ConnectionStatus>>()
  prove<Same<Omit<Connected, 'connected'>, Required<Omit<Answer<typeof ConnectionStatus>, 'connected'>>>>()
  prove<Same<client.ConnectedExtension, Answer<typeof ConnectedExtension>>>()
  prove<Same<Awaited<ReturnType<ReturnType<client.Sgw['conversations']>['page']>>, Answer<typeof ConversationList>>>()
  prove<Same<Awaited<ReturnType<ReturnType<client.Sgw['optOuts']['list']>['page']>>, Answer<typeof OptOutList>>>()
  prove<Same<client.OptOutPolicy, Answer<typeof Policy>['policy']>>()
  prove<Same<client.UsageDay, Answer<typeof UsageDay>>>()
  prove<Same<client.ExtensionHealth, Answer<typeof ExtensionsHealth>['extensions'][number]>>()
  prove<Same<client.Overview, Answer<typeof Overview>>>()
  prove<Same<client.Me, Answer<typeof Me>>>()
  prove<Same<client.EventPage, Answer<typeof EventsAnswer>>>()
})

test('every filter of the client takes what its route takes, and every body has its members', () => {
  prove<Same<Names<client.NewMessage>, Names<z.output<typeof sms.SendBody>>>>()
  prove<Same<Names<client.Notice>, Names<z.output<typeof sms.NotifyQuery>>>>()
  prove<Same<client.MessageFilter, Filter<typeof MessagesQuery>>>()
  prove<Same<Names<client.NewApp & { role: 'app' }>, Names<z.output<typeof apps.RegisterBody>>>>()
  prove<Same<client.AppChanges, z.output<typeof apps.UpdateBody>>>()
  prove<Same<client.DeliveryFilter, Filter<typeof deliveries.DeliveriesQuery>>>()
  prove<Same<Names<client.RecoverRange>, Names<z.output<typeof deliveries.RecoverBody>>>>()
  prove<Same<Parameters<client.Sgw['optOuts']['set']>[0], z.output<typeof OptOutBody>>>()
  prove<Same<client.OptOutFilter, Filter<typeof OptOutsQuery>>>()
  prove<Same<client.ConversationFilter, Filter<typeof ConversationsQuery>>>()
  prove<Same<client.UsageRange, Filter<typeof UsageQuery>>>()
})
