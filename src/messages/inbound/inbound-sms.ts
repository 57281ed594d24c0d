import { isSameNumber } from '../../core/phone.ts'
import { listedBy } from '../../provider/directory.ts'
import type { ExtensionKey } from '../../provider/extension-rows.ts'
import type { InboundEventSms, Recipient } from '../../provider/provider.ts'
import type { Gateway } from '../gateway.ts'
import type { InboundSms } from './store-inbound.ts'

/** The stored part of an event or a record. */
export async function inboundOf(gateway: Gateway, key: ExtensionKey, sms: InboundEventSms): Promise<InboundSms> {
  const { providerMessageId, text, createdAt, attachments } = sms
  const to = (await ownNumberAmong(gateway, key, sms.to)) ?? 'unknown'
  const { tenantId, extensionId } = key
  const from = sms.from ?? 'anonymous'
  return { tenantId, extensionId, providerMessageId, from, to, text, createdAt, attachments }
}

/**
 * The texted number: the one that the provider marks, or the only one. In a group without a mark: a number of the receiving extension, or the
 * tenant's only one; null if there is none, because the others are strangers'.
 */
async function ownNumberAmong(
  { directory }: Gateway,
  { tenantId, extensionId }: ExtensionKey,
  recipients: readonly Recipient[],
): Promise<string | null> {
  const [first] = recipients
  if (first === undefined || recipients.length === 1) return first?.phoneNumber ?? null
  const marked = recipients.find(({ phoneNumber, target }) => target && phoneNumber !== null)
  if (marked !== undefined) return marked.phoneNumber
  const texted = [...new Set(recipients.map(({ phoneNumber }) => phoneNumber))]
  if (texted.length === 1) return first.phoneNumber
  const tenant = await directory.tenant(tenantId)
  const ours = [...tenant.numbers.keys()].filter((own) => texted.some((one) => one !== null && isSameNumber(own, one)))
  const own = ours.find((number) => listedBy(tenant, extensionId, number) !== undefined)
  return own ?? (ours.length === 1 ? (ours[0] ?? null) : null)
}
