/** Whose a message is that a statement is about to end, and when it ends: pieces of what counts it. */
export const OF_ENDING = { tenantId: 'ending.tenant_id', appId: 'ending.app_id', at: 'given.now' }

/** The messages that a statement is about to end. */
export const endingRows = (condition: string): string =>
  `FROM given CROSS JOIN messages AS ending ON ending.id = given.messageId AND ending.status IN ('queued', 'sending') WHERE ${condition}`
