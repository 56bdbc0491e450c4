/** The page of a DID request (service §2.10): an organisation asks whoever opens it for a DID. */
import type { DidRequest } from '../../src/enterprise/onboarding.ts'
import { html, line, visibleJson } from './html.ts'
import type { Page } from './page.ts'
import { longestLine, moment, quoted, scan, steps, toCopy } from './parts.ts'

/** `endsAt` is when the link is over, `staleAfterMs` how long that is from now. */
export function didRequestPage(didRequest: DidRequest, { endsAt, staleAfterMs }: { endsAt: Date; staleAfterMs: number }): Page {
  const from = line(didRequest.from, longestLine)
  const text = visibleJson(didRequest)
  const { host } = new URL(didRequest.onboardEndpoint)
  return {
    title: 'You are asked for a DID',
    isWide: true,
    staleAfterMs,
    content: html`<header>
        <p class="kind">DID request</p>
        <h1>You are asked for a DID</h1>
        <p class="from">
          ${from === undefined ? 'Somebody who gives no name' : quoted(from)} asks for a DID of yours, to know you by from then on. A DID is
          a name that your wallet makes, and that nobody but you controls.
        </p>
      </header>
      ${scan(text, 'the DID request')}
      <div>
        ${steps([
          html`Open the wallet app that keeps your DIDs, and let it scan the code.`,
          html`Look who asks: your wallet shows it too. Your answer goes to <bdi>${host}</bdi>.`,
          html`Choose a DID, or let your wallet make a new one, and confirm. Decline if you do not want to.`,
        ])}
        <aside class="note">
          <p>
            Whoever made this link chose the name that it shows, and nobody has checked it. If you did not expect to be asked, close this
            page: by opening it you have answered nothing.
          </p>
        </aside>
        ${toCopy('Your wallet is on this device, or has no camera?', [{ label: 'Copy this text into your wallet:', text }])}
        <footer><p>The link takes one answer, until ${moment(endsAt)}.</p></footer>
      </div>`,
  }
}
