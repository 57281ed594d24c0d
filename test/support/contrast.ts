import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { blankPageOf } from './browser-context.ts'
import { type Violation, expectNoViolations, loadAxe } from './console.ts'

/** Of WCAG 2, for texts of the usual size. */
const LEAST_CONTRAST = 4.5

/** A piece of text as it is seen: where, in pixels of the page, and its color as CSS. */
interface SeenText {
  text: string
  colour: string
  left: number
  top: number
  right: number
  bottom: number
}

interface Contrast {
  /** The texts that were measured. */
  measured: string[]
  /** Those whose contrast is not enough, with it. */
  tooLow: string[]
}

/**
 * Measures the contrast where axe leaves it open, as over a gradient or where elements overlap: between a text's color and each pixel of a
 * picture of what is beneath it.
 */
export async function contrastOf(page: Page): Promise<Contrast> {
  await loadAxe(page)
  return measureTexts(
    page,
    await page.evaluate<SeenText[]>(
      `axe.run({ runOnly: ['color-contrast'], resultTypes: ['incomplete'] }).then(${TEXTS_LEFT_OPEN})`,
    ),
  )
}

/** Expects axe to find nothing on the current page, and enough contrast where it leaves that open, which it is asked for at the same time. */
export async function expectAccessibleContrast(page: Page): Promise<void> {
  await loadAxe(page)
  const { violations, texts } = await page.evaluate<{ violations: Violation[]; texts: SeenText[] }>(
    `axe.run({ resultTypes: ['violations', 'incomplete'] }).then((found) => ({ violations: found.violations, texts: (${TEXTS_LEFT_OPEN})(found) }))`,
  )
  expectNoViolations(violations)
  expect((await measureTexts(page, texts)).tooLow).toEqual([])
}

async function measureTexts(page: Page, texts: readonly SeenText[]): Promise<Contrast> {
  if (texts.length === 0) return { measured: [], tooLow: [] }
  await page.evaluate(HIDE_TEXTS)
  const picture = (await page.screenshot({ scale: 'css' })).toString('base64')
  await page.evaluate(SHOW_TEXTS)
  const contrasts = await lowestContrasts(page, texts, picture)
  const tooLow = texts.flatMap(({ text, colour }, index) => {
    const contrast = contrasts[index] ?? 0
    return contrast < LEAST_CONTRAST ? [`${contrast.toFixed(2)}: “${text}” in ${colour}`] : []
  })
  return { measured: texts.map(({ text }) => text), tooLow }
}

/** The console's policy allows no picture from data, so a blank page measures. */
async function lowestContrasts(page: Page, texts: readonly SeenText[], picture: string): Promise<number[]> {
  const blank = await blankPageOf(page.context())
  return blank.evaluate<number[]>(`(${LOWEST_CONTRASTS})(${JSON.stringify(texts)}, '${picture}')`)
}

const HIDE_TEXTS = `{
  globalThis.withoutTexts = new CSSStyleSheet()
  withoutTexts.replaceSync('* { color: transparent !important; text-decoration-color: transparent !important }')
  document.adoptedStyleSheets.push(withoutTexts)
}`

const SHOW_TEXTS = `void document.adoptedStyleSheets.splice(document.adoptedStyleSheets.indexOf(withoutTexts), 1)`

/** The texts of the elements that axe leaves open, without what is scrolled away or cut off. */
const TEXTS_LEFT_OPEN = `({ incomplete }) => {
  return incomplete.filter(({ id }) => id === 'color-contrast').flatMap(({ nodes }) => nodes.flatMap(({ target }) => textsOf(document.querySelector(target[0]))))

  function textsOf(element) {
    const { color } = getComputedStyle(element)
    const shown = shownPart(element)
    const nodes = [...element.childNodes].filter(({ nodeType, data }) => nodeType === 3 && data.trim() !== '')
    return nodes.flatMap((node) => {
      const range = document.createRange()
      range.selectNode(node)
      const boxes = [...range.getClientRects()].map((box) => overlap(shown, box))
      return boxes
        .filter(({ left, top, right, bottom }) => right > left && bottom > top)
        .map((box) => ({ text: node.data.trim(), colour: color, ...box }))
    })
  }

  function shownPart(element) {
    let part = { left: 0, top: 0, right: innerWidth, bottom: innerHeight }
    for (let outer = element; outer !== null; outer = outer.parentElement)
      if (getComputedStyle(outer).overflow !== 'visible') part = overlap(part, outer.getBoundingClientRect())
    return part
  }

  function overlap(a, b) {
    return {
      left: Math.ceil(Math.max(a.left, b.left)),
      top: Math.ceil(Math.max(a.top, b.top)),
      right: Math.floor(Math.min(a.right, b.right)),
      bottom: Math.floor(Math.min(a.bottom, b.bottom)),
    }
  }
}`

/** For each text, the lowest contrast with a pixel of the picture. */
const LOWEST_CONTRASTS = `async (texts, picture) => {
  const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,' + picture)).blob())
  const canvas = (width, height) => new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })
  const [ground, ink] = [canvas(bitmap.width, bitmap.height), canvas(1, 1)]
  ground.drawImage(bitmap, 0, 0)
  return texts.map(({ colour, left, top, right, bottom }) => {
    ink.fillStyle = colour
    ink.fillRect(0, 0, 1, 1)
    const own = luminance(ink.getImageData(0, 0, 1, 1).data, 0)
    const { data } = ground.getImageData(left, top, right - left, bottom - top)
    let lowest = Infinity
    for (let at = 0; at < data.length; at += 4) {
      const beneath = luminance(data, at)
      lowest = Math.min(lowest, (Math.max(own, beneath) + 0.05) / (Math.min(own, beneath) + 0.05))
    }
    return lowest
  })

  function luminance(data, at) {
    const [red, green, blue] = [data[at], data[at + 1], data[at + 2]].map((value) => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
}`
