/** Selects active extensions without a live subscription for inbound messages. `?1` is the time, epoch milliseconds. */
export const NOT_RECEIVING = `SELECT tenant_id, extension_id FROM extensions WHERE status = 'active' AND NOT EXISTS (
  SELECT 1 FROM subscriptions WHERE subscriptions.tenant_id = extensions.tenant_id
    AND subscriptions.extension_id = extensions.extension_id AND subscriptions.status = 'active'
    AND subscriptions.expires_at > ?1)`
