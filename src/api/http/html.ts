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

/** The colors, the radii and the space beside a page are those of the console. */
const STYLE = `:root{color-scheme:light dark;--accent:light-dark(oklch(.47 .082 212),oklch(.8 .088 205));--line:light-dark(oklch(.905 .008 95),oklch(.305 .014 232))}
body{font:16px/1.5 system-ui,sans-serif;margin:12vh 16px 16px;background:light-dark(oklch(.985 .004 95),oklch(.19 .012 232));color:light-dark(oklch(.24 .02 230),oklch(.94 .006 95))}
main{box-sizing:border-box;max-width:30rem;margin:auto;padding:24px;background:light-dark(#fff,oklch(.228 .014 232));border:1px solid var(--line);border-radius:10px;overflow-wrap:anywhere}
h1{font-size:20px;line-height:26px;margin:0 0 12px}p{margin:12px 0 0}
button{font:500 16px/1.5 system-ui,sans-serif;margin-top:20px;padding:8px 20px;border:1px solid;border-color:var(--accent);border-radius:6px;background:var(--accent);color:light-dark(oklch(.99 .003 95),oklch(.19 .012 232));cursor:pointer}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}`

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
