import { type Browser, type BrowserContext, type CDPSession, type Page, chromium } from 'playwright-core'
import { browserOptions } from './browser.ts'

/**
 * What the clock of a page does. Playwright replaces the clock of a whole context, and nothing brings it back. `stands`: each page of this kind
 * sets it to the same time. `moves`: the page gets a context of its own.
 */
export type PageClock = 'runs' | 'stands' | 'moves'

/** A start takes a second or two, so the tests of a process share one browser. It ends with the process. */
let shared: Promise<Browser> | null = null
export const sharedBrowser = (): Promise<Browser> => (shared ??= chromium.launch(browserOptions()))

interface LentContext {
  context: BrowserContext
  /** Closes its pages and forgets what was stored at these addresses. */
  giveBack(addresses: readonly string[]): Promise<void>
}

/** The contexts that nothing uses now. */
const free: Record<PageClock, { context: BrowserContext; session: CDPSession }[]> = { runs: [], stands: [], moves: [] }

/**
 * Lends a context with no page and nothing stored, to one user at a time. Its blank page keeps the process that runs its scripts: a new process
 * for each page takes a third of the page's load, because it compiles everything anew.
 */
export async function lendContext(clock: PageClock): Promise<LentContext> {
  const browser = await sharedBrowser()
  if (clock === 'moves') {
    const context = await browser.newContext(OPTIONS)
    return { context, giveBack: () => context.close() }
  }
  const lent = free[clock].pop() ?? (await newContext(browser))
  return {
    context: lent.context,
    async giveBack(addresses) {
      const origins = addresses.filter((each) => each.startsWith('http')).map((each) => new URL(each).origin)
      const blank = await blankPageOf(lent.context)
      for (const page of lent.context.pages()) if (page !== blank) await page.close()
      for (const origin of new Set(origins))
        await lent.session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
      free[clock].push(lent)
    },
  }
}

const OPTIONS = { viewport: { width: 1440, height: 900 }, colorScheme: 'light', reducedMotion: 'reduce' } as const

async function newContext(browser: Browser): Promise<{ context: BrowserContext; session: CDPSession }> {
  const context = await browser.newContext(OPTIONS)
  return { context, session: await context.newCDPSession(await blankPageOf(context)) }
}

/** Closed with their contexts. */
const blankPages = new WeakMap<BrowserContext, Promise<Page>>()

/** An empty page of the site of all gateways in tests, so that its process is theirs, too. */
export function blankPageOf(context: BrowserContext): Promise<Page> {
  const blank = blankPages.get(context) ?? openBlank(context)
  blankPages.set(context, blank)
  return blank
}

async function openBlank(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '' }))
  await page.goto('http://localhost/')
  await page.unrouteAll()
  return page
}
