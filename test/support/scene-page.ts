import type { Page } from 'playwright-core'
import type { Alert } from '../../src/console/page/state/alert.ts'
import { anIncident, routeAll } from './all-tenants.ts'
import { type ConsoleOptions, type ConsolePage, openConsole } from './console.ts'
import { startCuttableProxy } from './cuttable.ts'
import type { Scene } from './scenes.ts'

/** How somebody views a scene. */
export interface Looking extends Pick<ConsoleOptions, 'width' | 'height' | 'theme'> {
  /** `#/messages?state=failed`. */
  hash: string
  /** A font in which words are wider than in most. */
  isWideFont?: boolean
  /** Red and green look alike. */
  isDeuteranope?: boolean
  isPrivate?: boolean
  isOffline?: boolean
  /** Additional alerts of an operator: a real backup would take storage and hours. */
  isBackupBehind?: boolean
  /** What the page of all tenants reads is another incident, of seven of them. */
  isOfSeven?: boolean
}

/** Opens a view of a scene, at the scene's time, and waits until it is there. */
export async function openScene(scene: Scene, looking: Looking): Promise<ConsolePage> {
  const proxy = looking.isOffline === true ? startCuttableProxy(scene.world.url) : null
  const opened = await openConsole(proxy?.url ?? scene.world.url, {
    ...looking,
    clock: 'stands',
    hash: await scene.signIn(looking.hash),
    prepare: (page) => prepare(page, scene, looking),
  })
  const { page } = opened
  await untilStanding(opened, scene.hasTrouble)
  if (proxy !== null) {
    proxy.cut()
    await page.locator('.offline-bar').waitFor()
  }
  return {
    ...opened,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]()
      proxy?.[Symbol.dispose]()
    },
  }
}

async function prepare(page: Page, { booking, clock }: Scene, looking: Looking): Promise<void> {
  await page.clock.setFixedTime(clock.now())
  if (looking.isOfSeven) await routeAll(page, () => anIncident(clock.now(), booking.tenantId))
  const stored = { 'sgw.app': booking.appId, 'sgw.time': 'utc', ...(looking.isPrivate ? { 'sgw.privacy': 'on' } : {}) }
  await page.addInitScript(`Object.assign(localStorage, ${JSON.stringify(stored)})`)
  if (looking.isWideFont) await page.addInitScript(WIDE_FONT)
  if (looking.isDeuteranope) await seeAsDeuteranope(page)
  if (looking.isBackupBehind) await addBackupAlert(page, clock.now())
}

/** The page's policy allows no style element. */
const WIDE_FONT = `
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(':root { --sans: "DejaVu Sans", Verdana, sans-serif !important; word-spacing: 0.1em; letter-spacing: 0.04em }')
  addEventListener('DOMContentLoaded', () => document.adoptedStyleSheets.push(sheet))
  globalThis.wideFont = sheet`

/** Shows a page that was opened with the wide font with it, or without it. */
export const showWideFont = (page: Page, isWide: boolean): Promise<void> =>
  page.evaluate(`wideFont.disabled = ${!isWide}`)

async function seeAsDeuteranope(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setEmulatedVisionDeficiency', { type: 'deuteranopia' })
}

async function addBackupAlert(page: Page, now: number): Promise<void> {
  const since = new Date(now - 10_740_000).toISOString()
  const what = 'The backup of /data/sgw.db has been behind for 10800 s'
  const fix = 'Keep the volume until the backup has caught up.'
  const alert = {
    alert: 'backup_behind',
    subject: 'gateway',
    text: `${what}. ${fix}`,
    what,
    fix,
    since,
    detail: { lagSeconds: 10_800 },
  } satisfies Alert
  await page.route('**/v1/operator/alerts', async (route) => {
    const response = await route.fetch()
    const { alerts } = (await response.json()) as { alerts: object[] }
    await route.fulfill({ response, json: { alerts: [...alerts, alert] } })
  })
}

/** Until the view and the counts of the rail are there. */
async function untilStanding({ page, quiet }: ConsolePage, hasTrouble: boolean): Promise<void> {
  await page.locator('main h1').first().waitFor()
  if (hasTrouble) await page.locator('.rail-count').first().waitFor({ state: 'attached' })
  await quiet()
}
