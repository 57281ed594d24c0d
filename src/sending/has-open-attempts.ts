import type { ConnectionScope } from '../provider/directory.ts'
import type { EngineParts } from './engine-parts.ts'
import type { Entry } from './number-queue.ts'

/** Whether an attempt of the tenant, or of one of its extensions, is open or is being opened. */
export function hasOpenAttempts(
  { scheduler, context }: EngineParts,
  { tenantId, extensionId }: ConnectionScope,
): boolean {
  const numbers = context.directory.known(tenantId)?.numbers
  // An attempt that is being opened belongs to the extension that has the number now.
  const isInScope = ({ attempt, queue }: Entry): boolean =>
    extensionId === null || (attempt?.extensionId ?? numbers?.get(queue.number) ?? extensionId) === extensionId
  return [...scheduler.queues.ofTenant(tenantId)].some(({ busy }) => [...busy].some(isInScope))
}
