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
      onComplete: () => resolve(started),
    })
  })
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
