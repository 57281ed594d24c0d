import { join } from 'node:path'
import type { PageFile } from '../api/http/served-file.ts'

const FOLDER = join(import.meta.dir, 'page')

/**
 * Bundles the page from its source, in about 20 ms. In an executable there is no source and no bundler: the build replaces this
 * module by one that has the files (scripts/build.ts).
 */
export async function bundlePage(): Promise<PageFile[]> {
  const built = await Bun.build({
    entrypoints: ['main.tsx', 'theme.ts'].map((name) => join(FOLDER, name)),
    target: 'browser',
    format: 'esm',
    minify: true,
    naming: '[name].[ext]',
    // Without it JSX is compiled for development, with file names and lines.
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const outputs = built.outputs.map(async (output) => ({
    name: output.path.replace(/^.*[\\/]/, ''),
    // The bundler leaves out the space.
    type: output.type.replace(/;(?! )/, '; '),
    bytes: new Uint8Array(await output.arrayBuffer()),
  }))
  return [
    ...(await Promise.all(outputs)),
    { name: 'style.css', type: 'text/css; charset=utf-8', bytes: await styles() },
    { name: 'index.html', type: 'text/html; charset=utf-8', bytes: await Bun.file(join(FOLDER, 'index.html')).bytes() },
  ]
}

/** In the order of the cascade. Bun's bundler would rewrite `light-dark()` for old browsers. */
const STYLES = ['tokens', 'base', 'frame', 'overlays', 'sign-in', 'messages', 'detail', 'phone'] as const

async function styles(): Promise<Uint8Array<ArrayBuffer>> {
  const texts = await Promise.all(STYLES.map((name) => Bun.file(join(FOLDER, 'style', `${name}.css`)).text()))
  return new TextEncoder().encode(texts.join('\n'))
}
