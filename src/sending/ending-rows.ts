/** SQL for the roll-up: tenant, app and time of a message that a later statement of the commit ends. */
export const OF_ENDING = { tenantId: 'ending.tenant_id', appId: 'ending.app_id', at: 'input.now' }

/** SQL for the roll-up: the messages that a later statement of the commit ends. */
export const endingRows = (condition: string): string =>
  `FROM input CROSS JOIN messages AS ending ON ending.id = input.messageId AND ending.status IN ('queued', 'sending') WHERE ${condition}`
