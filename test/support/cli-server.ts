import { expect } from 'bun:test'
import { sgwIn } from './cli.ts'
import { openOperatorSocket } from './operator.ts'
import { type World, createWorld } from './world.ts'

/** Runs a test beside a server with its operator's socket, with `sgw` on its database. */
export async function withServer(
  run: (world: World, sgw: Sgw) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  await using world = await createWorld({ env })
  const operator = openOperatorSocket(world)
  await run(world, {
    text: (...words) => sgwIn(world.folder, words),
    json: async (...words) => {
      const { code, stdout, stderr } = await sgwIn(world.folder, [...words, '--json'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return JSON.parse(stdout) as never
    },
  })
  await operator.stop()
}

interface Sgw {
  text(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }>
  json<T = Record<string, unknown>>(...words: string[]): Promise<T>
}
