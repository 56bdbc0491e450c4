/**
 * The part of a page that asks the browser for a wallet: a button, its script, and the outcomes (Digital
 * Credentials API).
 */
import type { DigitalRequest } from '../../src/exchange/presentation/digital-credentials.ts'
import type { Texts } from './english.ts'
import { html, type Html } from './html.ts'
import { inline } from './style.ts'

/**
 * Browsers call wallets only at the click itself, so nothing waits before `get`. The answer goes to the
 * endpoint beside that of the page, which works behind a path of a proxy. While it is under way
 * (`aria-busy`), the script of `page.ts` does not reload the page, but asks again.
 */
export const digitalScript = inline(
  'script',
  `addEventListener('DOMContentLoaded', () => {
  const button = document.querySelector('[data-digital-requests]')
  const show = (outcome, reason = '') => {
    for (const each of document.querySelectorAll('[data-outcome]')) each.hidden = each.dataset.outcome !== outcome
    const line = document.querySelector('[data-reason]')
    line.hidden = reason === ''
    line.textContent = reason
  }
  if (!('DigitalCredential' in window)) return show('unsupported')
  button.hidden = false
  button.addEventListener('click', async () => {
    show()
    button.disabled = true
    let credential
    try {
      const requests = JSON.parse(button.dataset.digitalRequests)
      credential = await navigator.credentials.get({ digital: { requests } })
    } catch (error) {
      button.disabled = false
      return show('aborted', error.name + ': ' + error.message)
    }
    document.body.setAttribute('aria-busy', 'true')
    try {
      const { protocol, data } = credential
      const answer = await fetch('digital-credential', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ protocol, data: typeof data === 'string' ? JSON.parse(data) : data }),
      })
      const { redirect_uri: next, error_description: reason } = await answer.json()
      if (next !== undefined) return location.assign(next)
      const page = await (await fetch(location.href, { headers: { accept: 'application/json' } })).json()
      if (page.state !== 'waiting') return location.reload()
      show('refused', reason)
    } catch (error) {
      show('refused', error.message)
    }
    document.body.removeAttribute('aria-busy')
    button.disabled = false
  })
})`,
)

/** The button is shown by its script, if the browser has the API. */
export function digitalButton(
  { presentation: { browser } }: Texts,
  requests: readonly DigitalRequest[],
): Html {
  return html`<p>
      <button type="button" hidden data-digital-requests="${toAscii(requests)}">${browser.button}</button>
    </p>
    <div role="status">
      ${(['unsupported', 'aborted', 'refused'] as const).map(
        (outcome) => html`<p hidden data-outcome="${outcome}">${browser[outcome]}</p>`,
      )}
      <p class="soft" hidden data-reason></p>
    </div>`
}

/** JSON without characters that templates replace, so that a signed request stays as it is. */
function toAscii(value: object): string {
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
