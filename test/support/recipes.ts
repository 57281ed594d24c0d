import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from './program.ts'
import type { World } from './world.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/recipes.md'), 'utf8')

/** The blocks of a recipe, in order, for the gateway and the key of a world. */
export function recipe(world: World, heading: string): string[] {
  const section = PAGE.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]
  if (section === undefined) throw new Error(`docs/recipes.md has no recipe ${heading}`)
  const { host } = new URL(world.url)
  return [...section.matchAll(/```\w*\n([\s\S]*?)```/g)].map(([, block = '']) =>
    block
      .trim()
      .replaceAll('https://sms.example.com', world.url)
      .replaceAll('jsons://sms.example.com', `json://${host}`)
      .replaceAll('sgw_YOUR_KEY', world.key),
  )
}

/** Recipients and texts of what was accepted, oldest first. */
export async function textsOf(world: World): Promise<[to: string, body: string][]> {
  const { body } = await world.json<{ messages: { to: string; body: string }[] }>(
    'GET',
    '/v1/sms/messages?direction=outbound&limit=100',
  )
  return body.messages.map((message) => [message.to, message.body] as [string, string]).toReversed()
}
