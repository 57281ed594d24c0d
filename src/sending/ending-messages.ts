interface EndingMessages {
  tenantId: string
  appId: string
  at: string
  from: string
}

/** SQL for the roll-up: the messages that the next statements of the commit will end. */
export const endingMessages = (condition: string): EndingMessages => ({
  tenantId: 'ending.tenant_id',
  appId: 'ending.app_id',
  at: 'input.now',
  from: `FROM input CROSS JOIN messages AS ending ON ending.id = input.messageId AND ending.status IN ('queued', 'sending') WHERE ${condition}`,
})
