import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startTestGateway } from '../../src/testing/index.ts'
import { expectAccessible, openConsole } from '../support/console.ts'

const TO = '+15555550199'
/** Of docs/performance.md. */
const MAX_REQUESTS = 10
const MAX_BYTES = 60_000

test('the page weighs at most 60 KB compressed, and names its encodings', async () => {
  await using gateway = await startTestGateway()
  let bytes = 0
  for (const name of ['', 'main.js', 'theme.js', 'style.css']) {
    const url = `${gateway.url}/console/${name}`
    const response = await fetch(url, { headers: { 'accept-encoding': 'br' }, decompress: false })
    bytes += (await response.arrayBuffer()).byteLength
    expect(response.headers.get('content-encoding')).toBe('br')
    expect(response.headers.get('vary')?.toLowerCase()).toContain('accept-encoding')
    const again = await fetch(url, {
      headers: { 'accept-encoding': 'br', 'if-none-match': response.headers.get('etag') ?? '' },
    })
    expect([again.status, await again.text()]).toEqual([304, ''])
  }
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
})

for (const view of ['messages', 'phone'])
  test(`${view} loads with at most ${MAX_REQUESTS} requests when signed in`, async () => {
    await using gateway = await startTestGateway()
    const [from = ''] = gateway.numbers
    await gateway.client.sms.sendAndWait({ from, to: TO, body: 'there already' })
    await using opened = await openConsole(gateway.url, { hash: `#/${view}` })
    const { page, requests } = opened
    await page.getByText('there already').first().waitFor()
    await page.waitForLoadState('networkidle')
    requests.length = 0
    await page.reload()
    await page.getByText('there already').first().waitFor()
    await page.waitForLoadState('networkidle')
    expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS)
  })

test('the page runs nothing inline and cannot be framed', async () => {
  await using gateway = await startTestGateway()
  const { headers } = await fetch(`${gateway.url}/console/`)
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  expect(policy).toContain("frame-ancestors 'none'")
  expect(headers.get('x-frame-options')).toBe('DENY')
})

const SIZES: readonly [width: number, height: number, theme: 'light' | 'dark'][] = [
  [1440, 900, 'light'],
  [1440, 900, 'dark'],
  [1024, 768, 'light'],
  [390, 844, 'dark'],
  [360, 740, 'light'],
  // 1440 × 900 at a zoom of 200 %.
  [720, 450, 'light'],
]

for (const [width, height, theme] of SIZES)
  test(`at ${width} × ${height} in ${theme} nothing scrolls sideways, and axe finds nothing`, async () => {
    await using gateway = await startTestGateway()
    const [from = ''] = gateway.numbers
    await gateway.client.sms.sendAndWait({
      from,
      to: TO,
      body: 'Hello there, this is a text that does not fit into a narrow row',
    })
    await gateway.client.sms.sendAndWait({ from: '+15555550999', to: TO, body: 'This one cannot be sent at all' })
    await using opened = await openConsole(gateway.url, { hash: '#/messages', width, height, theme })
    const { page, complaints } = opened
    await page.locator('.row').first().waitFor()
    await expectFits(page)
    await page.locator('.row', { hasText: 'Hello there' }).click()
    await page.getByRole('heading', { name: /^Delivered, known after/ }).waitFor()
    await expectFits(page)
    await page.goto(`${new URL(page.url()).origin}/console/#/phone`)
    await page.locator('.said.theirs').waitFor()
    await page.locator('.step', { hasText: 'delivered' }).first().waitFor()
    await expectFits(page)
    await expectApart(page)
    expect(complaints).toEqual([])
  })

async function expectFits(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  await expectAccessible(page)
}

/** The steps and the phone stand beside or under each other. */
async function expectApart(page: Page): Promise<void> {
  const overlap = `(() => {
    const [a, b] = ['.trace', '.handset'].map((name) => document.querySelector(name).getBoundingClientRect())
    return Math.min(a.right, b.right) > Math.max(a.left, b.left) && Math.min(a.bottom, b.bottom) > Math.max(a.top, b.top)
  })()`
  expect(await page.evaluate(overlap)).toBe(false)
}
