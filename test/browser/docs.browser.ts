import { expect, test } from 'bun:test'
import { chromium } from 'playwright-core'
import { ROUTES } from '../../src/app.ts'
import { browserOptions } from '../support/browser.ts'
import { createWorld } from '../support/world.ts'

test('the documentation page shows the document and sends requests only to the gateway', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const browser = await chromium.launch(browserOptions())
  try {
    const page = await browser.newPage()
    const asked = new Set<string>()
    page.on('request', (request) => asked.add(new URL(request.url()).origin))
    await page.goto(`${world.url}/docs`)
    await page.waitForSelector('.opblock-summary-path')
    expect(await page.locator('.opblock').count()).toBe(ROUTES.length)
    if (Bun.env['SCREENSHOT'] !== undefined) await page.screenshot({ path: Bun.env['SCREENSHOT'] })
    expect([...asked].filter((origin) => !origin.startsWith('data:') && origin !== 'null')).toEqual([world.url])
  } finally {
    await browser.close()
  }
})
