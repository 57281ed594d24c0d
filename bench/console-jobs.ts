import { type Browser, type Locator, type Page, chromium } from 'playwright-core'
import { createLink } from '../src/operator/session.ts'
import { createTenant } from '../src/operator/tenants.ts'
import { browserOptions } from '../test/support/browser.ts'
import { PNG } from '../test/support/media.ts'
import { type Receiver, startReceiver } from '../test/support/receiver.ts'
import { FROM, TO, type World, createWorld } from '../test/support/world.ts'

const MAX_TABS = 80
const PATIENCE_MS = 8000
const PAIR = `/conversations?${new URLSearchParams({ number: FROM, contact: TO })}`

/** Does what a person does, by mouse or by keyboard alone, and counts it. */
class Hand {
  clicks = 0
  keys = 0

  constructor(
    readonly page: Page,
    readonly isMouse: boolean,
  ) {}

  /** Presses something: a click, or Tab until it has the focus, and Enter. */
  async press(target: Locator): Promise<void> {
    await target.waitFor()
    if (this.isMouse) {
      this.clicks++
      return target.click()
    }
    await this.#reach(target)
    await this.key('Enter')
  }

  /** Writes into a field; each letter is a key. */
  async write(field: Locator, text: string): Promise<void> {
    await field.waitFor()
    if (this.isMouse) {
      this.clicks++
      await field.click()
    } else await this.#reach(field)
    await this.type(text)
  }

  /** Types where the focus is. */
  async type(text: string): Promise<void> {
    this.keys += text.length
    await this.page.keyboard.type(text)
  }

  async key(key: string): Promise<void> {
    this.keys++
    await this.page.keyboard.press(key)
  }

  async #reach(target: Locator): Promise<void> {
    const isThere = (): Promise<boolean> => target.evaluate((element) => element.matches(':focus'))
    for (let tabs = 0; tabs < MAX_TABS && !(await isThere()); tabs++) await this.key('Tab')
    if (!(await isThere())) throw new Error(`${MAX_TABS} times Tab did not reach ${String(target)}`)
  }
}

interface Job {
  name: string
  /** The view where it begins. */
  start: string
  /** Beside the simulator, where nothing was sent yet. */
  isFirst?: true
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
      await hand.press(button(page, 'Send the first text'))
      await page.locator('.said.outbound').first().waitFor()
    },
  },
  {
    name: 'a text by the last four digits of its contact',
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
      await page.getByText(/made again now\.$/).waitFor()
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
      await hand.write(page.getByRole('textbox').first(), 'Later')
      await hand.press(button(page, 'Send later…'))
      await hand.press(page.locator('.composer [type=submit]'))
      await hand.press(button(page, 'Cancel…'))
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
    async run(hand, page) {
      await hand.press(page.getByRole('button', { name: /^Deliver / }).first())
      await page
        .getByText(/never arrived/)
        .first()
        .waitFor({ state: 'detached' })
    },
  },
  {
    name: 'the noisiest tenant',
    start: '/all',
    async run(hand, page) {
      await hand.press(page.getByRole('row').getByRole('link').first())
      await page.locator('.overview h1').waitFor()
    },
  },
]

/** Walks through the jobs, each by mouse and by keyboard alone, and counts clicks and keys. */
async function walk(): Promise<void> {
  const browser = await chromium.launch(browserOptions())
  const rows = []
  for (const job of JOBS)
    rows.push({ job: job.name, mouse: await walkOne(browser, job, true), keyboard: await walkOne(browser, job, false) })
  console.table(rows)
  await browser.close()
}

/** What one job took, or where it ended. Each has a gateway of its own. */
async function walkOne(browser: Browser, job: Job, isMouse: boolean): Promise<string> {
  await using world = await createWorld({ outside: job.isFirst !== true })
  await using receiver = startReceiver(500)
  if (job.isFirst !== true) await fill(world, receiver)
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  page.setDefaultTimeout(PATIENCE_MS)
  const hand = new Hand(page, isMouse)
  const login = job.isFirst === true ? '' : `${new URL((await createLink(world.gateway)).url).hash}&`
  await page.goto(`${world.url.replace('127.0.0.1', 'localhost')}/console/${login}${job.start}`)
  await page.locator('main h1').first().waitFor()
  try {
    await job.run(hand, page)
    return `${hand.clicks} clicks, ${hand.keys} keys`
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
  await world.send({ to: '+15035550142', body: 'from yesterday' })
  await world.send({ from: '+15555550999', body: 'from nowhere' })
  const attachments = [{ contentType: 'image/png', fileName: 'door.png', data: PNG.toString('base64') }]
  await world.control.injectSms({ from: TO, to: FROM, text: 'At the door', attachments })
  await receiver.received(1)
  receiver.answer = () => new Response('ok')
}

await walk()
