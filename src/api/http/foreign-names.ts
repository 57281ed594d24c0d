/**
 * Other APIs' names for a field of this one, without case and punctuation: Twilio, Vonage, Plivo, Telnyx, Sinch, Infobip, MessageBird, Amazon
 * SNS, RingCentral, and gateways on phones. The names in the first table have no other meaning in any endpoint.
 */
const OF_A_TEXT: Readonly<Record<string, string>> = {
  to: 'recipient recipients receiver receivers destination destinations dst phone phones phonenumber phonenumbers mobile msisdn tonumber',
  from: 'sender senderid source src originator fromnumber',
  body: 'text message content msg messagebody messagetext textmessage sms',
  sendAt: 'scheduledat scheduleat scheduledfor scheduledtime scheduleddatetime sendtime senddate deliverat schedule',
  userId: 'reference clientref clientreference externalid customstring',
  webhookUrl: 'webhook callback callbackurl hookurl',
  callbackUrl: 'webhook callback webhookurl hookurl',
}

const ELSEWHERE: Readonly<Record<string, string>> = {
  text: 'message body content msg template',
  name: 'appname title label',
  webhookUrl: 'url endpoint',
  callbackUrl: 'url endpoint',
  isActive: 'active enabled disabled',
  events: 'eventtypes topics',
  policy: 'retries retrypolicy mode',
  contact: 'to phone phonenumber recipient msisdn',
  number: 'from sender phonenumber',
  optedOut: 'unsubscribed blocked stopped status',
  since: 'from start startdate after',
  until: 'to end enddate before',
  startDate: 'since after start from',
  endDate: 'until before end',
  limit: 'pagesize perpage size count',
  page: 'pagenumber offset',
}

/** Fields that other APIs have for a text, but this one lacks. */
const NOWHERE = [
  'mediaurl mediaurls media medias mediaids attachment attachments image images imageurl imageurls file files mms subject',
  'statuscallback statuscallbackurl statusurl deliveryreport deliveryreceipt dlr dlrurl reporturl notifyurl replywebhookurl',
  'validityperiod validity ttl expiresat expiry priority maxprice encoding unicode flash country messagingservicesid',
  'contentsid contentvariables templateid templatedata variables tag tags metadata idempotencykey messages batch',
]

const words = (lists: readonly string[]): string[] => lists.flatMap((list) => list.split(' '))

const FOREIGN = new Set(words([...Object.values(OF_A_TEXT), ...NOWHERE]))

const OURS = Map.groupBy(
  [OF_A_TEXT, ELSEWHERE].flatMap((table) =>
    Object.entries(table).flatMap(([ours, names]) => words([names]).map((name) => ({ name, ours }))),
  ),
  ({ name }) => name,
)

/** A name without case and punctuation: `send_at`, `send-at` and `SendAt` are the same. */
export const bareName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9]/g, '').toLowerCase()

/** The known field that other APIs call by this name; null if none. */
export const knownByOtherName = (bare: string, known: ReadonlySet<string>): string | null =>
  OURS.get(bare)?.find(({ ours }) => known.has(ours))?.ours ?? null

/** Whether other APIs have a field of this name for a text, so that its sender expects an effect. */
export const isOfOtherApis = (bare: string): boolean => FOREIGN.has(bare)
