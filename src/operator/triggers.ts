import { z } from 'zod'
import { TRIGGER_ID } from '../core/ids.ts'
import { createTrigger } from '../features/triggers/create-trigger.ts'
import { deleteTrigger } from '../features/triggers/delete-trigger.ts'
import { listTriggers } from '../features/triggers/list-triggers.ts'
import { CreateTriggerBody, type CreatedTrigger, type Trigger } from '../features/triggers/schemas.ts'
import type { Gateway } from '../gateway.ts'
import { readTenant, tenantId } from './tenants.ts'

export const CreateTenantTrigger = CreateTriggerBody.extend({ tenantId })
export const ListTenantTriggers = z.object({ tenantId })
export const DeleteTenantTrigger = z.object({
  tenantId,
  triggerId: z.string().regex(TRIGGER_ID, 'Invalid triggerId format'),
})

export async function createTenantTrigger(
  gateway: Gateway,
  input: z.output<typeof CreateTenantTrigger>,
): Promise<CreatedTrigger> {
  await readTenant(gateway, input.tenantId)
  return createTrigger(gateway, input, input)
}

export async function listTenantTriggers(
  gateway: Gateway,
  input: z.output<typeof ListTenantTriggers>,
): Promise<Trigger[]> {
  await readTenant(gateway, input.tenantId)
  return (await listTriggers(gateway, input)).triggers
}

export async function deleteTenantTrigger(
  gateway: Gateway,
  input: z.output<typeof DeleteTenantTrigger>,
): Promise<{ ok: true }> {
  await readTenant(gateway, input.tenantId)
  return deleteTrigger(gateway, input, input.triggerId)
}
