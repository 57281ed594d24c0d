import type { Page } from 'playwright-core'
import { createLink } from '../src/operator/session.ts'
import { setTenantStatus } from '../src/operator/tenants.ts'
import { anIncident, routeAll, tenantOf } from '../test/support/all-tenants.ts'
import { type ConsoleOptions, openConsole } from '../test/support/console.ts'
import { FROM, TO, type World, createWorld, until } from '../test/support/world.ts'
import { failedTexts, neverArrived, whoWaits } from './view-fills.ts'

/** How a state is viewed. */
export interface Look extends Required<Pick<ConsoleOptions, 'width' | 'height' | 'theme'>> {
  isForced?: boolean
}

const SIZES = [
  [1440, 900],
  [390, 844],
  [320, 720],
] as const
/** In forced colors the operator's own replace those of the theme. */
export const LOOKS: readonly Look[] = [
  ...SIZES.flatMap(([width, height]) => (['light', 'dark'] as const).map((theme) => ({ width, height, theme }))),
  { width: 1440, height: 900, theme: 'light', isForced: true },
]

interface State {
  view: string
  /** In development, beside the simulator; nobody signs in. */
  isDevelopment?: boolean
  fill?: (world: World) => Promise<unknown>
  prepare?: (page: Page, world: World) => Promise<unknown>
  press?: (page: Page) => Promise<void>
}

const PAIR = `/conversations?${new URLSearchParams({ number: FROM, contact: TO })}`
const AT_ONCE = 4

/** An incident of seven tenants. */
const SEVEN: State = {
  view: '/all',
  prepare: (page, { tenantId }) => routeAll(page, () => anIncident(Date.now(), tenantId)),
}

/** The states of the views which no scene has, by the names of their pictures. */
const STATES: Readonly<Record<string, State>> = {
  'all-incident': SEVEN,
  'all-fine': {
    view: '/all',
    prepare: (page, { tenantId }) =>
      routeAll(page, () => ({
        tenants: [tenantOf(tenantId, 'Acme', 12), tenantOf('tenant_2', 'Harbor Clinic', 1592)],
        alerts: [],
      })),
  },
  'all-many': {
    view: '/all',
    prepare: (page, { tenantId }) => {
      const { tenants, alerts } = anIncident(Date.now(), tenantId)
      const others = Array.from({ length: 493 }, (_, index) =>
        tenantOf(`tenant_${100 + index}`, `Clinic ${index + 1}`, 7 * index),
      )
      return routeAll(page, () => ({ tenants: [...tenants, ...others], alerts }))
    },
  },
  'all-unread': {
    view: '/all',
    prepare: (page) =>
      page.route('**/v1/operator/overview?*', (route) => route.fulfill({ status: 500, json: { error: 'Broken' } })),
  },
  reasons: { view: '/messages?state=failed', fill: failedTexts },
  'reasons-dialog': {
    view: '/messages?state=failed',
    fill: failedTexts,
    async press(page) {
      await page
        .getByRole('button', { name: /^Resend / })
        .first()
        .click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Send \d/ })
        .waitFor()
    },
  },
  'never-arrived': { view: '/webhooks?state=never_arrived', fill: neverArrived },
  'never-arrived-detail': {
    view: '/webhooks?state=never_arrived',
    fill: neverArrived,
    async press(page) {
      await page.locator('.row').first().click()
      await page.locator('.posted').waitFor()
    },
  },
  conversations: { view: '/conversations', fill: whoWaits },
  'conversation-picture': {
    view: PAIR,
    fill: whoWaits,
    press: (page) => page.getByRole('img', { name: 'rash.png' }).waitFor(),
  },
  'picture-opened': {
    view: PAIR,
    fill: whoWaits,
    async press(page) {
      await page.getByRole('button', { name: 'rash.png' }).click()
      await page.getByRole('dialog').getByRole('img').waitFor()
    },
  },
  'opt-out': { view: PAIR, fill: whoWaits, press: (page) => press(page, 'Opt out…') },
  'send-later': {
    view: PAIR,
    fill: whoWaits,
    async press(page) {
      await page.getByLabel('Write a text').fill('See you on Monday, and do not eat for six hours before your visit!')
      await press(page, 'Send later…')
    },
  },
  'opted-out': {
    view: PAIR,
    async fill(world) {
      await world.control.injectSms({ from: TO, to: FROM, text: 'STOP' })
      await until(async () => (await world.json<{ total: number }>('GET', '/v1/sms/messages')).body.total === 1)
    },
  },
  scheduled: {
    view: '/messages?state=scheduled',
    fill: whoWaits,
    press: (page) => page.locator('.row').first().click(),
  },
  suggestions: {
    view: '/messages',
    fill: whoWaits,
    async press(page) {
      await page.locator('[data-search]').fill('st')
      await page.getByRole('option').first().waitFor()
    },
  },
  'nothing-found': { view: '/messages?text=zebra', fill: whoWaits },
  unread: {
    view: '/messages',
    prepare: (page) =>
      page.route('**/v1/sms/messages?*', (route) => route.fulfill({ status: 500, json: { error: 'Broken' } })),
    press: (page) => page.getByRole('button', { name: 'Try again' }).waitFor(),
  },
  'key-rotated': {
    view: '/apps',
    async press(page) {
      await press(page, 'Rotate key…')
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
      await page.getByRole('dialog').getByText('SGW_').first().waitFor()
    },
  },
  'key-rotate': { view: '/apps', press: (page) => press(page, 'Rotate key…') },
  invite: {
    view: '/numbers',
    async press(page) {
      await press(page, /^(Make invite link|Invite)/)
      await page.getByRole('dialog').getByText('until').waitFor()
    },
  },
  mute: {
    ...SEVEN,
    press: (page) => press(page, 'Mute'),
  },
  keys: { view: '/messages', press: (page) => page.keyboard.press('?') },
  switcher: { view: '/messages', fill: whoWaits, press: openSwitcher },
  suspended: {
    view: '/messages',
    async fill(world) {
      await whoWaits(world)
      await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
    },
    prepare: (page, { app }) => page.addInitScript(`localStorage.setItem('sgw.app', '${app.appId}')`),
  },
  'no-number': {
    view: '/messages',
    fill: ({ gateway, tenantId }) => setTenantStatus(gateway, { tenantId, status: 'suspended' }),
  },
  'sign-in': { view: '' },
  'phone-first': { view: '/phone', isDevelopment: true },
  phone: {
    view: '/phone',
    isDevelopment: true,
    async fill({ control }) {
      control.configure({ deliveredAfterMs: 300 })
      await control.injectSms({ from: TO, to: FROM, text: 'Where do I park?' })
    },
    async press(page) {
      await page.getByLabel('Text from your app').fill('Behind the house, gate 2.')
      await page.keyboard.press('Enter')
      await page.locator('.step', { hasText: 'delivered' }).first().waitFor()
      await page.locator('.step', { hasText: 'delivered' }).first().click()
    },
  },
}

const press = (page: Page, name: string | RegExp): Promise<void> => page.getByRole('button', { name }).first().click()

/** On a phone, it is under More. */
async function openSwitcher(page: Page): Promise<void> {
  const more = page.getByRole('button', { name: /^More/ })
  await ((await more.isVisible()) ? more : page.locator('.switcher')).click()
  await page.getByRole('dialog').waitFor()
}

/** Takes each state in each viewing mode. */
export async function takeViews(
  save: (page: Page, file: string) => Promise<void>,
  names: readonly string[],
  looks = LOOKS,
): Promise<void> {
  const wanted = Object.entries(STATES).filter(([each]) => names.length === 0 || names.includes(each))
  for (const [name, state] of wanted) {
    await using world = await createWorld({ outside: state.isDevelopment !== true })
    if (state.isDevelopment !== true) await world.otherTenant('Pine Street')
    await state.fill?.(world)
    await eachLook(looks, (look) => takeOne(world, state, look, (page) => save(page, nameOf(name, look))))
  }
}

/** Most of the time a page waits, so several are open at once. */
export async function eachLook<T>(looks: readonly T[], take: (look: T) => Promise<void>): Promise<void> {
  const left = [...looks]
  const takeNext = async (): Promise<void> => {
    for (let look = left.shift(); look !== undefined; look = left.shift()) await take(look)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, takeNext))
}

export const nameOf = (name: string, { width, theme, isForced }: Look): string =>
  `${name}-${width}-${isForced === true ? 'forced' : theme}.png`

async function takeOne(world: World, state: State, look: Look, save: (page: Page) => Promise<void>): Promise<void> {
  await using opened = await openConsole(world.url, {
    ...look,
    hash: await hashOf(world, state),
    async prepare(page) {
      if (look.isForced === true) await page.emulateMedia({ forcedColors: 'active' })
      await state.prepare?.(page, world)
    },
  })
  await opened.page.locator('main :is(h1, h2):visible').first().waitFor()
  if (state.view !== '') await opened.quiet()
  await state.press?.(opened.page)
  if (state.view !== '') await opened.quiet()
  await save(opened.page)
}

async function hashOf({ gateway }: World, { view, isDevelopment }: State): Promise<string> {
  if (isDevelopment === true || view === '') return `#${view}`
  return `${new URL((await createLink(gateway)).url).hash}&${view}`
}
