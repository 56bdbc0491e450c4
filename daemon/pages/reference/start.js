/**
 * Starts Swagger UI in the API reference. It runs in the browser, after the bundle of Swagger UI.
 *
 * The document names the public URL of the agent. The page calls the agent that served it instead, since a
 * proxy or another name of the machine may be between them, and the policy of the page allows no other.
 */
const root = document.querySelector('#reference')
const base = new URL(root.dataset.base, location.href)

const dark = matchMedia('(prefers-color-scheme: dark)')
const setScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
setScheme()
dark.addEventListener('change', setScheme)

/** Keys are in the memory of the page only: a reload forgets them. */
const options = {
  domNode: root,
  layout: 'BaseLayout',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 2,
  persistAuthorization: false,
  // A validator is a service of others.
  validatorUrl: null,
}

async function start() {
  const response = await fetch(new URL('docs/openapi.json', base))
  if (!response.ok) throw new Error(`the agent answered ${response.status}`)
  const spec = await response.json()
  spec.servers = [{ url: base.href.replace(/\/$/, '') }]
  SwaggerUIBundle({ ...options, spec })
}

start().catch((error) => {
  root.textContent = `The API document could not be loaded: ${error.message}. Reload the page when the agent runs.`
})
