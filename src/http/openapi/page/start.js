// Starts Swagger UI at /docs. The page's policy allows no inline script, so this is a file.

const root = document.documentElement
const isSimulated = 'simulator' in root.dataset

followTheme()
const ui = await start()
if (isSimulated) await signIn()

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
  const spec = await (await fetch('/openapi.json')).json()
  spec.servers[0].variables.baseUrl.default = location.origin
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

/** Beside the built-in simulator requests work at once: as the operator, who acts as the first app. */
async function signIn() {
  const answer = await fetch('/v1/operator/session', { method: 'POST', body: '{}' })
  if (!answer.ok) return
  const { token } = await answer.json()
  ui.preauthorizeApiKey('operatorToken', token)
  const { apps } = await (await fetch('/v1/operator/apps', { headers: { authorization: `Bearer ${token}` } })).json()
  const app = apps.find(({ isActive }) => isActive)
  if (app !== undefined) ui.preauthorizeApiKey('actingApp', app.appId)
}
