/** Deliberate differences between the simulator and RingCentral's OpenAPI file. */
export interface Deviation {
  /** Matches the difference as `PublishedApi` words it. */
  pattern: RegExp
  /** The source. The guide is github.com/ringcentral/ringcentral-api-docs, commit 64067a50 of 2026-04-28. */
  source: string
}

/** At most ten. A test requires each of them to occur. */
export const DEVIATIONS: readonly Deviation[] = [
  {
    pattern: /^answer .* unknown \["(errorCode|message|parameterName|permissionName)"\]/,
    source: 'Errors repeat the first one at the top: "Error handling" of the guide, docs/basics/errors.md',
  },
  {
    pattern: /^answer (getToken|revokeToken|authorize2?) .* unknown \["error(_description)?"\]/,
    source: 'OAuth errors have the members of RFC 6749, section 5.2, with each status',
  },
  {
    pattern: /^answer readMessage 200: {2}required \["vmSideRecipients"\]/,
    source: 'The other recipients of a voicemail are demanded of each message, which an SMS does not have',
  },
  {
    pattern: /^answer createSMSMessage 200: {2}unknown \["owner"\]/,
    source: 'The answer names a call queue as the owner: the guide, docs/messaging/sms/threads/migration.txt',
  },
  {
    pattern: /^answer authorize2? 200: {2}content \["text\/html"\]/,
    source: 'A person sees a page before the 302: the guide, docs/authentication/auth-code-flow.md',
  },
  {
    pattern:
      /^event \w+: (\/body\/from unknown \["phoneNumberInfo"\]|\/body unknown \["(eventType|owner)"\]| unknown \["ownerId"\])/,
    source: 'Sample of 2025-07 in the guide, docs/messaging/sms/receiving-sms-mms.md, and code-samples/events there',
  },
  {
    pattern: /^event InstantMessageEvent: \/body\/(attachments\/\d+\/)?id type/,
    source: 'Ids in events are text in the same sample; the old form has numbers, as in samples of 2012 to 2018',
  },
  {
    pattern: /^event MessageEvent: (\/body\/extensionId type|\/body unknown \["accountId"\])/,
    source: 'Ids of a change are numbers: the guide, code-samples/websockets/websocket-notification.json',
  },
  {
    pattern: /^answer readMessageContent 20[06]: {2}content/,
    source: 'An MMS may have other types than those: the guide, docs/messaging/sms/sending-images.md',
  },
  {
    pattern: /^request \w+ \?subscriptionId: {2}maxLength/,
    source: 'The same file has an id of 36 characters as its example (`SubscriptionInfo`), and so has the guide',
  },
]
