import { loadOnce } from '../core/load-once.ts'
import { type PageFile, ServedFile } from '../api/http/served-file.ts'
import { bundlePage, sourceState } from './bundle.ts'

/** The frame, the theme, and what is loaded when it is first needed. */
export const SCRIPTS = [
  'main.js',
  'theme.js',
  'all.js',
  'overview.js',
  'usage.js',
  'checks.js',
  'messages.js',
  'message.js',
  'reasons.js',
  'message-suggestions.js',
  'empty.js',
  'looked.js',
  'conversations.js',
  'conversation.js',
  'phone.js',
  'trace.js',
  'attached.js',
  'pictures.js',
  'webhooks.js',
  'webhook.js',
  'attempt-suggestions.js',
  'setup.js',
  'rail-counts.js',
  'cures.js',
  'panels.js',
  'sign-in.js',
] as const

/** The files that are served. `simulator.html` is `index.html` beside the built-in simulator, `home.html` without a public address. */
export type PageFileName = 'index.html' | 'simulator.html' | 'home.html' | (typeof SCRIPTS)[number]

/** The files of the page by name, bundled on the first request; with `isAnew` bundled again if their source has changed. */
export function createPageFiles(): (options: { isAnew: boolean }) => Promise<PageFiles> {
  const bundled = loadOnce(bundle)
  let state = ''
  return ({ isAnew }) => {
    const last = state
    if (isAnew) state = sourceState()
    return bundled(state !== last)
  }
}

export const pageFiles = createPageFiles()

export interface PageFiles {
  get(name: PageFileName): ServedFile
  /** Compresses all of them as well as possible, once. */
  compressBest(): Promise<void>
}

async function bundle(): Promise<PageFiles> {
  const files = await bundlePage()
  const served = new Map(
    [...files, pageThatKnows(files, 'simulator'), pageThatKnows(files, 'home')].map((file) => [
      file.name,
      new ServedFile(file),
    ]),
  )
  let best: Promise<unknown> | null = null
  return {
    async compressBest() {
      await (best ??= Promise.all([...served.values()].map((file) => file.compressBest())))
    },
    get(name) {
      const file = served.get(name)
      if (file === undefined) throw new Error(`The bundle of the console has no ${name}`)
      return file
    },
  }
}

/** The page learns where it is from an attribute, without a request. */
function pageThatKnows(files: readonly PageFile[], where: 'simulator' | 'home'): PageFile {
  const html = new TextDecoder().decode(files.find(({ name }) => name === 'index.html')?.bytes)
  const bytes = new TextEncoder().encode(html.replace('<html', `<html data-${where}`))
  return { name: `${where}.html`, type: 'text/html; charset=utf-8', bytes }
}
