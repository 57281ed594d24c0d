import { type Browser, type Locator, type Page, chromium } from 'playwright-core'
import { createLink } from '../src/operator/session.ts'
import { createTenant } from '../src/operator/tenants.ts'
import { browserOptions } from '../test/support/browser.ts'
import { PNG } from '../test/support/media.ts'
import { type Receiver, startReceiver } from '../test/support/receiver.ts'
import { FROM, TO, type World, createWorld } from '../test/support/world.ts'

const MAX_TABS = 80
const DAY_MS = 86_400_000
const HALF_HOUR_MS = 1_800_000
const PATIENCE_MS = 8000
const PAIR = `/conversations?${new URLSearchParams({ number: FROM, contact: TO })}`

/** Does what a person does, by mouse or by keyboard alone, and counts it. */
class Hand {
  constructor(
    readonly page: Page,
    readonly isMouse: boolean,
    readonly count = { clicks: 0, keys: 0 },
  ) {}

  /** Presses something: a click, or Tab until it has the focus, and Enter. */
  async press(target: Locator): Promise<void> {
    await target.waitFor()
    if (this.isMouse) {
      this.count.clicks++
      return target.click()
    }
    await this.#reach(target)
    await this.key('Enter')
  }

  /** Presses the element just before the focused one. */
  async pressBefore(target: Locator): Promise<void> {
    if (!this.isMouse) await this.#reach(target, 'Shift+Tab')
    return this.press(target)
  }

  /** Writes into a field; each letter is a key. */
  async write(field: Locator, text: string): Promise<void> {
    await field.waitFor()
    if (this.isMouse) {
      this.count.clicks++
      await field.click()
    } else await this.#reach(field)
    await this.type(text)
  }

  /** Types where the focus is. */
  async type(text: string): Promise<void> {
    this.count.keys += text.length
    await this.page.keyboard.type(text)
  }

  /** The same user in another tab, which continues the count. */
  on(page: Page): Hand {
    return new Hand(page, this.isMouse, this.count)
  }

  async key(key: string): Promise<void> {
    this.count.keys++
    await this.page.keyboard.press(key)
  }

  async #reach(target: Locator, step: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const isThere = (): Promise<boolean> => target.evaluate((element) => element.matches(':focus'))
    for (let tabs = 0; tabs < MAX_TABS && !(await isThere()); tabs++) await this.key(step)
    if (!(await isThere())) throw new Error(`${MAX_TABS} times Tab did not reach ${String(target)}`)
  }
}

interface Job {
  name: string
  /** The view where it begins. */
  start: string
  /** Beside the simulator, where nothing was sent yet. */
  isFirst?: true
  /** What it needs in addition to what every job has. */
  prepare?: (world: World) => Promise<unknown>
  run: (hand: Hand, page: Page) => Promise<void>
}

const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name }).first()

/** Goes to a view as a person does: by the rail, or by `g` and a letter. */
async function go(hand: Hand, page: Page, name: string, letter: string): Promise<void> {
  if (hand.isMouse) return hand.press(page.locator('.rail-item', { hasText: name }))
  await hand.key('g')
  await hand.key(letter)
}

/** Opens a row: a click, or `j` until the cursor is there, and Enter. */
async function openRow(hand: Hand, page: Page, text: string): Promise<void> {
  const row = page.locator('.row', { hasText: text }).first()
  await row.waitFor()
  if (hand.isMouse) return hand.press(row)
  for (let steps = 0; steps < 20; steps++) {
    await hand.key('j')
    if (await row.evaluate((element) => element.classList.contains('cursor'))) break
  }
  await hand.key('Enter')
}

const JOBS: readonly Job[] = [
  {
    name: 'the first text',
    start: '',
    isFirst: true,
    async run(hand, page) {
      if (hand.isMouse) await hand.press(button(page, 'Send the first text'))
      else {
        await button(page, 'Send the first text').waitFor()
        await hand.key('Enter')
      }
      await page.locator('.said.outbound').first().waitFor()
    },
  },
  {
    name: "yesterday's text by the last four digits of its contact",
    start: '/overview',
    async run(hand, page) {
      await hand.key('/')
      await page.getByLabel('Search messages').waitFor()
      await hand.type('0142')
      await hand.key('Enter')
      await openRow(hand, page, 'from yesterday')
      await page.locator('.detail').waitFor()
    },
  },
  {
    name: 'why a text was not sent',
    start: '/overview',
    async run(hand, page) {
      await go(hand, page, 'Messages', 'm')
      await openRow(hand, page, 'from nowhere')
      await page.getByText('belongs to no connected extension.').waitFor()
    },
  },
  {
    name: 'a picture saved',
    start: '/messages',
    async run(hand, page) {
      await openRow(hand, page, 'At the door')
      await hand.press(button(page, 'door.png'))
      const [download] = await Promise.all([page.waitForEvent('download'), hand.press(button(page, 'Save'))])
      await download.path()
    },
  },
  {
    name: 'an app created',
    start: '/overview',
    async run(hand, page) {
      await go(hand, page, 'Setup', 'a')
      if (hand.isMouse) await hand.press(page.getByRole('link', { name: 'Apps', exact: true }))
      await hand.press(button(page, /^Create app/))
      await hand.type('walk-app')
      await hand.key('Enter')
      await page.getByRole('dialog').getByText('SGW_').first().waitFor()
    },
  },
  {
    name: 'a key rotated',
    start: '/overview',
    async run(hand, page) {
      await go(hand, page, 'Setup', 'a')
      if (hand.isMouse) await hand.press(page.getByRole('link', { name: 'Apps', exact: true }))
      await hand.press(button(page, 'Rotate key…'))
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }))
      await page.getByRole('dialog').getByText('SGW_').first().waitFor()
    },
  },
  {
    name: 'an extension connected: its invite link',
    start: '/overview',
    async run(hand, page) {
      await go(hand, page, 'Setup', 'n')
      await hand.press(button(page, /^(Make invite link|Invite)/))
      await page.getByRole('dialog').getByText('until').waitFor()
    },
  },
  {
    name: 'a revoked one mended',
    start: '/overview',
    prepare: async (world) => {
      for (const { extensionId } of world.control.extensions()) world.control.revokeTokens({ extensionId })
      await world.untilStatus(await world.send({ body: 'after' }), ['failed'])
    },
    async run(hand, page) {
      await hand.press(button(page, 'Authorize again'))
      const opening = page.context().waitForEvent('page')
      await hand.press(page.getByRole('link', { name: 'Go to RingCentral' }))
      const tab = await opening
      await hand.on(tab).press(tab.getByRole('button', { name: 'Connect' }))
      await tab.getByRole('heading', { name: 'Connected' }).waitFor()
    },
  },
  {
    name: 'failed of one reason sent again from another number',
    start: '/overview',
    prepare: async (world) => {
      for (const body of ['first', 'second'])
        await world.untilStatus(await world.send({ from: '+15555550999', body }), ['failed'])
    },
    async run(hand, page) {
      await hand.press(page.getByRole('link', { name: /^(Show what failed|failed)$/ }).first())
      await hand.press(button(page, /^Resend 3…/))
      await hand.press(page.getByRole('dialog').getByRole('button', { name: /^Send 3 again/ }))
      await page.getByText(/3 texts sent again/).waitFor()
    },
  },
  {
    name: 'one webhook delivered again',
    start: '/overview',
    async run(hand, page) {
      await go(hand, page, 'Webhooks', 'w')
      await openRow(hand, page, 'Received text')
      await hand.press(page.getByRole('button', { name: 'Deliver again', exact: true }))
      await page.getByRole('heading', { name: /^Delivered after/ }).waitFor()
    },
  },
  {
    name: 'an hour of webhooks recovered',
    start: '/overview',
    async run(hand, page) {
      await go(hand, page, 'Webhooks', 'w')
      await hand.press(page.locator('.destination').first())
      await hand.press(button(page, 'Recover since…'))
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Recover', exact: true }))
      await page.getByText(/attempted again now\.$/).waitFor()
    },
  },
  {
    name: 'an opt-out and an opt-in',
    start: PAIR,
    async run(hand, page) {
      await hand.press(button(page, 'Opt out…'))
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Record opt-out' }))
      await hand.press(button(page, 'Opt in again…'))
      await hand.press(page.getByRole('dialog').locator('[type=submit]'))
      await button(page, 'Opt out…').waitFor()
    },
  },
  {
    name: 'a text scheduled and cancelled',
    start: PAIR,
    async run(hand, page) {
      if (hand.isMouse) await hand.write(page.getByLabel('Write a text'), 'Later')
      else {
        await page.getByLabel('Write a text').waitFor()
        await hand.key('r')
        await hand.type('Later')
      }
      await hand.press(button(page, 'Send later…'))
      if (hand.isMouse) await hand.press(page.locator('.composer [type=submit]'))
      else await hand.key('Enter')
      await button(page, 'Cancel…').waitFor()
      await hand.pressBefore(button(page, 'Cancel…'))
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Cancel message' }))
      await page.locator('.said-note', { hasText: 'cancelled' }).waitFor()
    },
  },
  {
    name: "the month's bill",
    start: '/overview',
    async run(hand, page) {
      await hand.press(button(page, '30 d'))
      const [download] = await Promise.all([page.waitForEvent('download'), hand.press(page.getByText('Download CSV'))])
      await download.path()
    },
  },
  {
    name: 'what never arrived, a day later',
    start: '/overview',
    prepare: ({ gateway }) =>
      gateway.database.gate.execute(`UPDATE webhook_attempts SET attempted_at = attempted_at - ${DAY_MS}`),
    async run(hand, page) {
      await hand.press(page.getByRole('button', { name: /^Deliver / }).first())
      await page
        .getByText(/never arrived/)
        .first()
        .waitFor({ state: 'detached' })
    },
  },
  {
    name: 'the noisiest of seven tenants',
    start: '/all',
    prepare: sevenTenants,
    async run(hand, page) {
      await hand.press(button(page, 'Texts'))
      await page.locator('tbody tr', { hasText: 'Tenant' }).first().getByText('Tenant 4').waitFor()
      await hand.press(page.locator('tbody').getByRole('link', { name: 'Tenant 4', exact: true }))
      await page.locator('.overview h1').waitFor()
    },
  },
]

/** Walks through the jobs, each by mouse and by keyboard alone, and counts clicks and keys. */
async function walk(names: readonly string[]): Promise<void> {
  const browser = await chromium.launch(browserOptions())
  const rows = []
  for (const job of JOBS.filter(({ name }) => names.length === 0 || names.includes(name)))
    rows.push({ job: job.name, mouse: await walkOne(browser, job, true), keyboard: await walkOne(browser, job, false) })
  console.table(rows)
  await browser.close()
}

/** What one job took, or where it ended. Each has a gateway of its own. */
async function walkOne(browser: Browser, job: Job, isMouse: boolean): Promise<string> {
  await using world = await createWorld({ outside: job.isFirst !== true })
  await using receiver = startReceiver(500)
  if (job.isFirst !== true) await fill(world, receiver)
  await job.prepare?.(world)
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  page.setDefaultTimeout(PATIENCE_MS)
  const hand = new Hand(page, isMouse)
  const login = job.isFirst === true ? '' : `${new URL((await createLink(world.gateway)).url).hash}&`
  await page.goto(`${world.url.replace('127.0.0.1', 'localhost')}/console/${login}${job.start}`)
  await page.locator('main h1').first().waitFor()
  try {
    await job.run(hand, page)
    return `${hand.count.clicks} clicks, ${hand.count.keys} keys`
  } catch (error) {
    return String(error).split('\n')[0] ?? ''
  } finally {
    await page.close()
  }
}

/** Texts both ways, one that failed, one with a picture, and a webhook that fails and then answers. */
async function fill(world: World, receiver: Receiver): Promise<void> {
  await createTenant(world.gateway, { name: 'Pine Street' })
  await world.json('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: `${receiver.url}/sms` } })
  await world.untilStatus(await world.send({ to: '+15035550142', body: 'from yesterday' }))
  await world.gateway.database.gate.execute(
    `UPDATE messages SET created_at = created_at - ${DAY_MS}, updated_at = updated_at - ${DAY_MS}`,
  )
  await world.send({ from: '+15555550999', body: 'from nowhere' })
  const attachments = [{ contentType: 'image/png', fileName: 'door.png', data: PNG.toString('base64') }]
  await world.control.injectSms({ from: TO, to: FROM, text: 'At the door', attachments })
  await receiver.received(1)
  receiver.answer = () => new Response('ok')
}

/** With the two that every job has. The fourth of the others had the most texts. */
async function sevenTenants(world: World): Promise<void> {
  const halfHour = Math.floor(Date.now() / HALF_HOUR_MS)
  for (const [index, sent] of [30, 7, 12, 900, 4].entries()) {
    const { tenantId, appId } = await world.otherTenant(`Tenant ${index + 1}`)
    await world.gateway.database.gate.execute({
      sql: 'INSERT INTO usage (tenant_id, half_hour, app_id, latency_ms, accepted, sent) VALUES (?1, ?2, ?3, 800, ?4, ?4)',
      args: [tenantId, halfHour, appId, sent],
    })
  }
}

await walk(process.argv.slice(2))
