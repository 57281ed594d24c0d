import { createLink } from '../../src/operator/session.ts'
import { type ConsoleOptions, type ConsolePage, openConsole } from './console.ts'
import type { World } from './world.ts'

/** Opens a view as an operator who signs in by a link. */
export async function openAsOperator(world: World, view: string, options: ConsoleOptions = {}): Promise<ConsolePage> {
  const login = new URL((await createLink(world.gateway)).url).hash
  return openConsole(world.url, { ...options, hash: `${login}&${view}` })
}
