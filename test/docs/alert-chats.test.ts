import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Alerts } from '../../src/operator/alerts/alerts.ts'
import { PROJECT } from '../support/program.ts'
import { createWorld } from '../support/world.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/alerts.md'), 'utf8')

interface Posted {
  url: URL
  type: string
  body: Record<string, unknown>
}

/** The message that a chat shows of a request; undefined if it refuses the request. */
type Chat = (posted: Posted) => unknown

const isJson = ({ type }: Posted): boolean => type === 'application/json'
const slackText: Chat = (posted) => (isJson(posted) ? posted.body['text'] : undefined)

/** Each as its service documents it: the form of the address, and which part of the request is the message. */
const CHATS: Record<string, readonly [address: RegExp, chat: Chat]> = {
  Slack: [/^https:\/\/hooks\.slack\.com\/services\/\w+\/\w+\/\w+$/, slackText],
  'Mattermost, Rocket.Chat': [/^https:\/\/[\w.]+\/hooks\/\w+$/, slackText],
  // The endpoint for Slack's form; a message has at most 2,000 characters.
  Discord: [
    /^https:\/\/discord\.com\/api\/webhooks\/\w+\/\w+\/slack$/,
    (posted) => (String(slackText(posted)).length <= 2000 ? slackText(posted) : undefined),
  ],
  // Parameters come from the query and from the members of a JSON object.
  Telegram: [
    /^https:\/\/api\.telegram\.org\/bot\w+\/sendMessage\?/,
    (posted) => {
      const parameters = { ...Object.fromEntries(posted.url.searchParams), ...(isJson(posted) ? posted.body : {}) }
      return 'chat_id' in parameters ? parameters['text'] : undefined
    },
  ],
  // With tpl=1, m is a template of Go whose dot is the JSON body.
  ntfy: [
    /^https:\/\/ntfy\.sh\/\w+\?/,
    ({ url, body }) =>
      url.searchParams.get('tpl') === '1'
        ? url.searchParams.get('m')?.replace(/\{\{\.(\w+)\}\}/g, (_all, name: string) => String(body[name]))
        : undefined,
  ],
  'Home Assistant': [/^http:\/\/[\d.]+:8123\/api\/webhook\/\w+$/, (posted) => automationText(posted)],
}

/** What the page's automation passes on: a JSON body is `trigger.json`. */
function automationText(posted: Posted): string | undefined {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(PAGE) ?? []
  const { triggers, actions } = Bun.YAML.parse(yaml) as {
    triggers: { trigger: string; webhook_id: string; allowed_methods: string[] }[]
    actions: { action: string; data: { message: string } }[]
  }
  const [trigger] = triggers
  const [, id] = /^\/api\/webhook\/(\w+)$/.exec(posted.url.pathname) ?? []
  if (trigger?.trigger !== 'webhook' || trigger.webhook_id !== id || !trigger.allowed_methods.includes('POST'))
    return undefined
  if (!isJson(posted)) return undefined
  return actions[0]?.data.message.replace(/\{\{ trigger\.json\.(\w+) \}\}/g, (_all, name: string) =>
    String(posted.body[name]),
  )
}

const SECTION = PAGE.split('## Send alerts to a chat')[1]?.split('\n## ')[0] ?? ''
const ADDRESSES = new Map(
  [...SECTION.matchAll(/^\| (?:\[([^\]]+)\]\([^)]*\)|([\w., ]+)) \| `(https?:[^`]+)`/gm)].map(
    ([, linked, plain, url = '']) => [linked ?? plain ?? '', url] as const,
  ),
)

test('the page names the chats that are tested, and no other', () => {
  expect([...ADDRESSES.keys()].toSorted()).toEqual(Object.keys(CHATS).toSorted())
})

test.each(Object.entries(CHATS))('%s shows the text of an alert and of its end', async (name, [address, chat]) => {
  const documented = ADDRESSES.get(name) ?? ''
  expect(documented).toMatch(address)
  const posted: Posted[] = []
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const type = request.headers.get('content-type') ?? ''
      posted.push({ url: new URL(request.url), type, body: (await request.json()) as Posted['body'] })
      return new Response('ok')
    },
  })
  await using world = await createWorld({ work: false })
  const { origin } = new URL(documented)
  const alerts = new Alerts(world.gateway, documented.replace(origin, `http://127.0.0.1:${server.port}`))
  const set = async (status: string): Promise<void> => {
    await world.gateway.database.gate.execute(`UPDATE extensions SET status = '${status}'`)
    world.gateway.directory.forget(world.tenantId)
    await alerts.run()
  }
  await set('revoked')
  await set('active')
  const texts = posted.map((one) => chat(one))
  expect(texts).toContainEqual(expect.stringMatching(/^Extension \d+ of \w+ is revoked, so its messages fail\. /))
  expect(texts).toContainEqual(expect.stringMatching(/^Resolved: Extension \d+ of \w+ is no longer revoked/))
})
