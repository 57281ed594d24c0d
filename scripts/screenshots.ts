import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { exemptThisMachine } from '../src/core/proxy.ts'
import { startTestGateway } from '../src/testing/index.ts'
import { type ConsoleOptions, openConsole } from '../test/support/console.ts'
import { type Looking, openScene } from '../test/support/scene-page.ts'
import { smallerPng } from './smaller-png.ts'
import { LOOKS, type Look, eachLook, nameOf, takeViews } from './view-states.ts'
import { SCENES, type Scene, type SceneName, createScene } from '../test/support/scenes.ts'

// bun scripts/screenshots.ts
//   takes the pictures of README.md and docs/ into docs/pictures
// bun scripts/screenshots.ts states FOLDER
//   takes each view in each state in which it is hard to look good, to be judged
// bun scripts/screenshots.ts views FOLDER [NAME…]
//   takes those of them that no scene has, or only the named ones

const WIDE = { width: 1440, height: 900, theme: 'light' } as const
const MIDDLE = { width: 1024, height: 768, theme: 'light' } as const
const NARROW = { width: 390, height: 844, theme: 'dark' } as const
/** Rows of text make heavy pictures. */
const SMALLER = { width: 1240, height: 640, theme: 'light' } as const

interface Picture extends Looking {
  scene: SceneName
  /** What is pressed before the picture is taken. */
  press?: (page: Page) => Promise<void>
}

/** The pictures of the gateway in production, by their names in docs/pictures. */
export const PICTURES: Readonly<Record<string, Picture>> = {
  'all-tenants.png': { scene: 'an incident', hash: '#/all', ...WIDE, isOfSeven: true },
  'overview.png': { scene: 'an incident', hash: '#/overview', ...WIDE, isBackupBehind: true },
  'messages.png': { scene: 'a day', hash: '#/messages', ...SMALLER, height: 560, press: openUndelivered },
  'webhooks.png': { scene: 'an incident', hash: '#/webhooks', ...SMALLER, height: 600 },
  'setup.png': { scene: 'an incident', hash: '#/numbers', ...SMALLER },
}
/** The pictures of the phone, which is beside the simulator. */
export const PHONE_PICTURES: Readonly<Record<string, ConsoleOptions>> = {
  'phone.png': { ...WIDE, height: 740 },
  'phone-narrow.png': NARROW,
}

async function takePictures(folder: string): Promise<void> {
  for (const name of new Set(Object.values(PICTURES).map((picture) => picture.scene))) {
    await using scene = await createScene(name)
    for (const [file, picture] of Object.entries(PICTURES))
      if (picture.scene === name) await take(scene, picture, join(folder, file))
  }
  for (const [file, options] of Object.entries(PHONE_PICTURES)) await takePhone(join(folder, file), options)
}

async function take(
  scene: Scene,
  picture: Looking & Pick<Picture, 'press'> & Pick<Look, 'isForced'>,
  path: string,
): Promise<void> {
  await using opened = await openScene(scene, picture)
  if (picture.isForced === true) await opened.page.emulateMedia({ forcedColors: 'active' })
  await picture.press?.(opened.page)
  await opened.quiet()
  await save(opened.page, path)
}

async function save(page: Page, path: string): Promise<void> {
  await Bun.write(path, smallerPng(await page.screenshot({ scale: 'css' })))
  process.stdout.write(`${path}\n`)
}

async function openUndelivered(page: Page): Promise<void> {
  await page.locator('.row', { hasText: 'cannot receive texts' }).first().click()
  await page.locator('.chart-line', { hasText: 'Attempt 1' }).waitFor()
}

/** A text and its answer. The phone's times are real, so they differ each time. */
async function takePhone(path: string, options: ConsoleOptions): Promise<void> {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url, { ...options, hash: '#/phone' })
  const { page } = opened
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await page.locator('.step', { hasText: 'delivered' }).first().waitFor()
  await page.getByLabel('Text as the contact').fill('Where do I park?')
  await page.keyboard.press('Enter')
  await page.locator('.step', { hasText: 'sms_inbound' }).first().waitFor()
  await save(page, path)
}

const VIEWS: Readonly<Record<string, Pick<Picture, 'hash' | 'press'>>> = {
  overview: { hash: '#/overview' },
  usage: { hash: '#/overview?range=30d' },
  messages: { hash: '#/messages' },
  message: { hash: '#/messages', press: openFirst },
  conversations: { hash: '#/conversations' },
  webhooks: { hash: '#/webhooks' },
  delivery: { hash: '#/webhooks', press: openFirst },
  setup: { hash: '#/numbers' },
  apps: { hash: '#/apps' },
  tenants: { hash: '#/tenants' },
}

/** Opens the first row, if there is one. */
async function openFirst(page: Page): Promise<void> {
  const row = page.locator('.row').first()
  if (!(await row.isVisible())) return
  await row.click()
  await page.locator('.detail h1, .detail h2').first().waitFor()
}

/** Each view in each scene and size, and the worst scene as people with special needs see it. */
async function takeStates(folder: string, names: readonly string[]): Promise<void> {
  for (const name of SCENES.filter((each) => names.length === 0 || names.includes(each))) {
    await using scene = await createScene(name)
    for (const [view, shown] of Object.entries(VIEWS))
      await eachLook(looksAt(name), ({ how, ...looking }) => {
        const file = nameOf(`${view}-${name.replaceAll(/[ ,]+/g, '-')}${how}`, looking)
        const picture = { ...shown, isBackupBehind: name === 'an incident', ...looking }
        return take(scene, picture, join(folder, file))
      })
  }
}

function looksAt(name: SceneName): readonly (Omit<Looking, 'hash'> & Look & { how: string })[] {
  const plain = [...LOOKS, MIDDLE].map((size) => ({ ...size, how: '' }))
  if (name !== 'an incident') return plain
  const special = [
    { how: '-wide-font', isWideFont: true },
    { how: '-deuteranope', isDeuteranope: true },
    { how: '-private', isPrivate: true },
    { how: '-offline', isOffline: true },
  ]
  return [...plain, ...special.flatMap((how) => [WIDE, NARROW].map((size) => ({ ...size, ...how })))]
}

if (import.meta.main) {
  exemptThisMachine(process.env)
  const [kind, folder = 'docs/pictures', ...names] = process.argv.slice(2)
  await mkdir(folder, { recursive: true })
  if (kind === 'states') await takeStates(folder, names)
  else if (kind === 'views') await takeViews((page, file) => save(page, join(folder, file)), names)
  else await takePictures(folder)
  process.exit(0)
}
