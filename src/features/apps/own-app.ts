import type { Caller } from '../../auth/caller.ts'
import { apiError } from '../../core/errors.ts'
import type { Statement } from '../../db/writer.ts'
import type { Gateway } from '../../gateway.ts'

/** Refuses every app but the caller's own, as if it did not exist. Errors: `appNotFound`. */
export function demandOwn(caller: Caller, appId: string): void {
  if (appId !== caller.appId) throw apiError('appNotFound')
}

/**
 * Commits a change of the caller's app, and empties the key cache so that it takes effect at once. The first statement
 * must have a RETURNING clause: no row means that the app is gone. Errors: `appNotFound`.
 */
export async function changeApp(gateway: Gateway, ...statements: [Statement, ...Statement[]]): Promise<void> {
  const [result] = await gateway.database.writer.write(statements)
  gateway.keys.forget()
  if (result?.rows.length === 0) throw apiError('appNotFound')
}
