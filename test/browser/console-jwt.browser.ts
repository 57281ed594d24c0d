import { expect, test } from 'bun:test'
import { connectJwt } from '../../src/operator/connect-jwt.ts'
import { expectAccessible, openConsole } from '../support/console.ts'
import { newLogin } from '../support/operator.ts'
import { HOME, createWorld } from '../support/world.ts'

/** Where the pictures of this test go, if somebody wants to look at them. */
const PICTURES = process.env['SGW_PICTURES']

test('an operator connects an extension with a JWT, which no page shows, and gives it another one when it is revoked', async () => {
  await using world = await createWorld({ connect: false })
  await using opened = await openConsole(world.url, { hash: '#/numbers' })
  const { page, complaints } = opened
  await page.getByRole('heading', { name: 'No number is connected yet.' }).waitFor()
  const extensionId = world.control.extensions()[0]?.extensionId ?? ''
  const dead = world.control.addJwt({ extensionId }).jwt
  world.control.removeJwt({ jwt: dead })
  await page.getByRole('button', { name: 'Connect with a JWT' }).click()
  const dialog = page.getByRole('dialog', { name: 'Connect with a JWT' })
  const field = dialog.getByLabel('JWT', { exact: true })
  expect([await field.getAttribute('type'), await field.getAttribute('autocomplete')]).toEqual(['password', 'off'])
  await field.fill(dead)
  await page.keyboard.press('Enter')
  await dialog.getByRole('alert').filter({ hasText: 'The JWT is not one that RingCentral accepts' }).waitFor()
  await expectAccessible(page)
  const { jwt } = world.control.addJwt({ extensionId })
  await field.fill(jwt)
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Both numbers can send and receive.' }).waitFor()
  await page.locator('dl div', { hasText: 'Authorized until' }).getByText('no end').waitFor()
  await world.untilStatus(await world.send(), ['sent'])
  world.control.removeJwt({ jwt })
  world.control.revokeTokens({ extensionId })
  await world.untilStatus(await world.send(), ['failed'])
  await page.reload()
  await page.locator('.thing', { hasText: 'RingCentral no longer accepts its JWT.' }).waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Connect with another JWT' }).click()
  await field.fill(world.control.addJwt({ extensionId }).jwt)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Both numbers can send and receive.' }).waitFor()
  await page.getByRole('button', { name: 'Connect with a JWT' }).click()
  expect(await field.inputValue()).toBe('')
  for (const secret of [dead, jwt]) expect(await page.content()).not.toContain(secret)
  expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain('eyJ')
  // The browser reports each answer of 400 and more.
  expect(complaints.filter((text) => !text.includes('409'))).toEqual([])
}, 60_000)

test('Setup shows the day on which a JWT ends, and what to do before', async () => {
  await using world = await createWorld({ connect: false })
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  const { jwt } = world.control.addJwt({ extensionId, expiresInSeconds: 10 * 86_400 })
  await connectJwt(world.gateway, { tenantId: world.tenantId, jwt }, 'req_test')
  const at = String((await world.json('GET', '/v1/rc/status')).body['expiresAt'])
  await using opened = await openConsole(world.url, { hash: '#/numbers' })
  const row = opened.page.locator('.thing')
  const until = row.locator('dl div', { hasText: 'Authorized until' }).locator('time')
  expect(await until.getAttribute('datetime')).toBe(at)
  await row.locator('.why', { hasText: `Its JWT expires on ${at}. ` }).waitFor()
  await row.getByText('Make another one in the developer console: sgw extensions connect-jwt').waitFor()
  await row.getByRole('button', { name: 'Connect with another JWT' }).waitFor()
})

test('Setup says why a second tenant of the same user receives no events yet', async () => {
  await using world = await createWorld({ connect: false, env: { RC_EVENTS: 'websocket' } })
  const other = await world.otherTenant()
  for (const { tenantId } of [world, other]) {
    const { jwt } = world.control.addJwt({ extensionId: world.control.extensions()[0]?.extensionId ?? '' })
    await connectJwt(world.gateway, { tenantId, jwt }, 'req_test')
  }
  await using opened = await openConsole(world.url, { hash: '#/numbers', key: other.apiKey })
  const why = opened.page.locator('.thing .why')
  await why.filter({ hasText: 'Its events have not begun yet, so its messages arrive up to a minute late.' }).waitFor()
  await why
    .filter({ hasText: 'RingCentral allows a user five logins a minute: its events start without your help within' })
    .waitFor()
})

test('at home Setup connects with a JWT, offers no link that RingCentral would refuse, and says what a link needs', async () => {
  await using world = await createWorld({ connect: false, env: { ...HOME, RC_EVENTS: 'websocket' } })
  await using opened = await openConsole(world.url, { hash: `#login=${await newLogin(world)}` })
  const { page } = opened
  const heading = page.getByRole('heading', { name: 'No number is connected yet.' })
  await heading.waitFor()
  const toSetup = page.getByRole('link', { name: 'Connect with a JWT' }).first()
  expect(await page.getByRole('button', { name: 'Connect' }).count()).toBe(0)
  await toSetup.click()
  await page.getByText('A link needs PUBLIC_URL, the https:// address that browsers reach.').waitFor()
  await page.getByText(`sgw extensions connect-jwt --tenant ${world.tenantId} --jwt-file FILE`).waitFor()
  for (const name of ['Make invite link', 'Connect an extension'])
    expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0])
  const button = page.getByRole('button', { name: 'Connect with a JWT' })
  expect(await button.getAttribute('class')).toBe('button primary')
  await expectAccessible(page)
  await button.click()
  const { jwt } = world.control.addJwt({ extensionId: world.control.extensions()[0]?.extensionId ?? '' })
  const dialog = page.getByRole('dialog', { name: 'Connect with a JWT' })
  await dialog.getByText('a link needs PUBLIC_URL').waitFor()
  await dialog.getByLabel('JWT', { exact: true }).fill(jwt)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Both numbers can send and receive.' }).waitFor()
  // One that was connected by a link, when there was a PUBLIC_URL.
  await world.gateway.database.gate.execute(`UPDATE extensions SET jwt = NULL, status = 'revoked'`)
  world.gateway.directory.forget(world.tenantId)
  await page.reload()
  await page.locator('.thing').getByRole('button', { name: 'Connect with a JWT' }).waitFor()
  expect(await page.getByRole('button', { name: 'Authorize again' }).count()).toBe(0)
})

test('an app’s key sees no way to connect with a JWT', async () => {
  await using world = await createWorld({ connect: false })
  await using opened = await openConsole(world.url, { hash: '#/numbers', key: world.key })
  await opened.page.getByRole('button', { name: 'Connect an extension' }).waitFor()
  expect(await opened.page.getByRole('button', { name: 'Connect with a JWT' }).count()).toBe(0)
})

for (const theme of ['light', 'dark'] as const)
  for (const width of [390, 1440])
    test(`the dialog fits a page of ${width} pixels, ${theme}`, async () => {
      await using world = await createWorld({ connect: false })
      await using opened = await openConsole(world.url, { hash: '#/numbers', theme, width, height: 844 })
      const { page } = opened
      const button = page.getByRole('button', { name: 'Connect with a JWT' })
      await button.waitFor()
      if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/setup-${theme}-${width}.png` })
      await button.click()
      await page.getByRole('dialog').waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
      await expectAccessible(page)
      if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/jwt-${theme}-${width}.png` })
    })

test('a message that a revoked JWT has failed says to connect another JWT, and leads there; one of a link offers the link', async () => {
  await using world = await createWorld()
  const { tenantId } = world
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  const fails = async (): Promise<string> => {
    world.control.revokeTokens({ extensionId })
    const messageId = await world.send()
    await world.untilStatus(messageId, ['failed'])
    return messageId
  }
  const byLink = await fails()
  await using first = await openConsole(world.url, { hash: `#/messages?id=${byLink}` })
  await first.page.getByText('Authorize the extension again, then send it again.').waitFor()
  await first.page.getByRole('complementary').getByRole('button', { name: 'Authorize again' }).waitFor()
  const { jwt } = world.control.addJwt({ extensionId })
  await connectJwt(world.gateway, { tenantId, jwt }, 'req_test')
  world.control.removeJwt({ jwt })
  const byJwt = await fails()
  await using second = await openConsole(world.url, { hash: `#/messages?id=${byJwt}` })
  const { page } = second
  await page.getByText('Connect the extension with another JWT, then send it again.').waitFor()
  expect(await page.getByRole('button', { name: 'Authorize again' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Connect with another JWT' }).click()
  await page.locator('.thing', { hasText: 'RingCentral no longer accepts its JWT.' }).waitFor()
})
