/** The page of a DID request (service §2.10): an organisation asks the person who opens it for a DID. */
import type { DidRequest } from '../../src/enterprise/onboarding.ts'
import { html, line, visibleJson } from './html.ts'
import type { Page } from './page.ts'
import { longestLine, moment, quoted, scan, steps, toCopy } from './parts.ts'

/** `endsAt` is when the link is over, `staleAfterMs` how long that is from now. */
export function didRequestPage(
  didRequest: DidRequest,
  { endsAt, staleAfterMs }: { endsAt: Date; staleAfterMs: number },
): Page {
  const from = line(didRequest.from, longestLine)
  const text = visibleJson(didRequest)
  const { host } = new URL(didRequest.onboardEndpoint)
  return {
    title: from === undefined ? 'Request for a DID' : `${from} asks for a DID`,
    isWide: true,
    staleAfterMs,
    content: html`<header>
        <p class="kind">DID request</p>
        <h1 class="from">
          ${from === undefined ? 'Request for a DID' : html`${quoted(from)} asks for a DID`}
        </h1>
        <p>
          A DID is an identifier that your wallet creates and that only you control. The sender will recognise
          you by it.
        </p>
      </header>
      ${scan(text, 'the DID request')}
      <div>
        ${steps([
          html`Open the wallet app that keeps your DIDs, and let it scan the code.`,
          html`Check the name that your wallet shows. Your answer goes to <bdi>${host}</bdi>.`,
          html`Choose a DID, or let your wallet create a new one, and confirm. You can also decline.`,
        ])}
        <aside class="note">
          <p>
            The sender chose the name on this page, and it is not verified. If you did not expect this
            request, close the page: opening it sends nothing.
          </p>
        </aside>
        ${toCopy('Your wallet is on this device, or has no camera?', [{ label: 'Copy this text into your wallet:', text }])}
        <footer><p>The link takes one answer, until ${moment(endsAt)}.</p></footer>
      </div>`,
  }
}
