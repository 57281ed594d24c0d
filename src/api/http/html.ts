import { createHash } from 'node:crypto'
import { pageHeaders } from './page-headers.ts'

/** HTML that is known to be escaped. */
export interface Html {
  readonly html: string
}

/** Builds HTML. Escapes every value that is not `Html`. */
export function html(parts: TemplateStringsArray, ...values: (string | Html)[]): Html {
  const escaped = values.map((value) => (typeof value === 'string' ? Bun.escapeHTML(value) : value.html))
  return { html: parts.map((part, index) => part + (escaped[index] ?? '')).join('') }
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#f4f5f7;color:#1d2330}
main{max-width:30rem;margin:12vh auto;padding:2rem;background:#fff;border-radius:12px;box-shadow:0 1px 4px #0002}
h1{font-size:1.3rem;margin:0 0 .8rem}button{font:inherit;padding:.6rem 1.4rem;border:0;border-radius:8px;background:#0b5fff;color:#fff;cursor:pointer}
@media (prefers-color-scheme:dark){body{background:#14171d;color:#e8eaf0}main{background:#1f242d}}`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

export interface PageOptions {
  status: number
  title: string
  content: Html
  /** Where the page's form may lead, including redirects, to which browsers also apply `form-action`. */
  formTargets?: readonly string[]
}

/** A complete page whose headers forbid scripts, framing, referrers and caching. */
export function page({ status, title, content, formTargets = [] }: PageOptions): Response {
  const formAction = formTargets.length === 0 ? "'none'" : formTargets.join(' ')
  const document = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${{ html: STYLE }}</style></head><body><main><h1>${title}</h1>${content}</main></body></html>`
  return new Response(document.html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      ...pageHeaders([`style-src 'sha256-${STYLE_HASH}'`], formAction),
    },
  })
}
