import type { ConnectionScope } from '../provider/directory.ts'
import type { SendEngine } from './engine.ts'
import type { Entry } from './line.ts'

/** Whether an attempt of the tenant, or of one of its extensions, is open or is being opened. */
export function hasOpenAttempts(
  { scheduler, context }: SendEngine,
  { tenantId, extensionId }: ConnectionScope,
): boolean {
  const numbers = context.directory.known(tenantId)?.numbers
  // An attempt that is being opened belongs to the extension that has the number now.
  const isInScope = ({ attempt, line }: Entry): boolean =>
    extensionId === null || (attempt?.extensionId ?? numbers?.get(line.number) ?? extensionId) === extensionId
  return [...scheduler.lines.ofTenant(tenantId)].some(({ open }) => [...open].some(isInScope))
}
