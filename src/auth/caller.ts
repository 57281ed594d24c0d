/** Who calls: an active app of an active tenant, by its key. Its tenant is in every query made for it. */
export interface Caller {
  appId: string
  tenantId: string
}
