// Starts Swagger UI at /docs. The page's policy allows no inline script, so this is a file.

const root = document.documentElement
/** Where the gateway is: this file is in its folder `docs/`, perhaps below a prefix that a proxy takes from the path. */
const gateway = new URL('..', import.meta.url).href.replace(/\/$/, '')
const isSimulated = 'simulator' in root.dataset

followTheme()
const ui = await start()
if (isSimulated) await useSession()

/** Dark if the console was set to it, else as the system is. */
function followTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const chosen = localStorage.getItem('sgw.theme')
  const show = () => root.classList.toggle('dark-mode', chosen === 'dark' || (chosen !== 'light' && dark.matches))
  dark.addEventListener('change', show)
  show()
}

/** Requests of the page go to the gateway that served it, whatever its PUBLIC_URL says. */
async function start() {
  const spec = await (await fetch(`${gateway}/openapi.json`)).json()
  spec.servers[0].variables.baseUrl.default = gateway
  return new Promise((resolve) => {
    const started = globalThis.SwaggerUIBundle({
      spec,
      dom_id: '#swagger-ui',
      validatorUrl: 'none',
      deepLinking: true,
      displayRequestDuration: true,
      tryItOutEnabled: isSimulated,
      plugins: [{ afterLoad: resolveInParts }],
      onComplete: () => resolve(started),
    })
  })
}

/**
 * Swagger UI prepares all of a document for each part that it shows: for the security schemes of the first load, and for each operation that
 * somebody unfolds. That takes seconds, so it gets a document that has only what the part refers to.
 */
function resolveInParts({ fn }) {
  const { resolveSubtree } = fn
  fn.resolveSubtree = (spec, path, options) => resolveSubtree(partOf(spec, path), path, options)
}

/** A document with what is at the path, and with all that is referred to from there. */
function partOf(spec, path) {
  if (path.length < 2) return spec
  const part = { ...spec, paths: {}, webhooks: {}, components: {} }
  // An operation inherits from the item of its path.
  const kept = [path[0] === 'components' ? path : path.slice(0, 2)]
  for (const names of kept) {
    const value = names.reduce((inner, name) => inner?.[name], spec)
    if (value === undefined || names.reduce((inner, name) => inner?.[name], part) === value) continue
    let inner = part
    for (const name of names.slice(0, -1)) {
      inner[name] ??= {}
      inner = inner[name]
    }
    inner[names.at(-1)] = value
    for (const [, pointer] of JSON.stringify(value).matchAll(/"[^"\s]*#\/([^"\s]+)"/g))
      kept.push(pointer.split('/').map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')))
  }
  return part
}

/**
 * Beside the built-in simulator requests work at once with the session that the console has opened in this browser: as the operator,
 * who acts as the first app. The page opens no session itself, because each load would leave one behind.
 */
async function useSession() {
  const token = storedToken()
  if (token === null) return
  const answer = await fetch(`${gateway}/v1/operator/apps`, { headers: { authorization: `Bearer ${token}` } })
  if (!answer.ok) return
  const { apps } = await answer.json()
  ui.preauthorizeApiKey('operatorToken', token)
  const app = apps.find(({ isActive }) => isActive)
  if (app !== undefined) ui.preauthorizeApiKey('actingApp', app.appId)
}

/** Where `console/page/state/session.ts` stores it; null if there is none, or it has expired. */
function storedToken() {
  try {
    const { token, expiresAt } = JSON.parse(
      localStorage.getItem(`sgw.operator${gateway.slice(location.origin.length)}`),
    )
    return Date.parse(String(expiresAt)) > Date.now() ? token : null
  } catch {
    return null
  }
}
