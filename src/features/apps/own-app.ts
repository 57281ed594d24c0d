import type { Caller } from '../../auth/caller.ts'
import { apiError } from '../../core/errors.ts'
import type { Statement } from '../../db/writer.ts'
import type { Gateway } from '../../gateway.ts'

/** The one app that a key may act on is its own; any other id is not found, whoever it belongs to. */
export function demandOwn(caller: Caller, appId: string): void {
  if (appId !== caller.appId) throw apiError('appNotFound')
}

/** Commits a change of the caller's app (first a statement with RETURNING) and makes it count at once. Errors: `appNotFound`. */
export async function changeApp(gateway: Gateway, ...statements: [Statement, ...Statement[]]): Promise<void> {
  const [result] = await gateway.database.writer.write(statements)
  gateway.keys.forget()
  if (result?.rows.length === 0) throw apiError('appNotFound')
}
