/** The page of an authentication challenge (service §2.11): whoever opens it is to sign in with a DID. */
import type { Challenge } from '../../src/enterprise/authentication.ts'
import { html, line, visibleJson } from './html.ts'
import type { Page } from './page.ts'
import { longestLine, moment, quoted, scan, steps, toCopy } from './parts.ts'

/** `staleAfterMs` is how long the link takes an answer from now. */
export function challengePage(challenge: Challenge, { staleAfterMs }: { staleAfterMs: number }): Page {
  const from = line(challenge.from, longestLine)
  const text = visibleJson(challenge)
  const { host } = new URL(challenge.submissionEndpoint)
  return {
    title: 'Sign in with your DID',
    isWide: true,
    staleAfterMs,
    content: html`<header>
        <p class="kind">Authentication challenge</p>
        <h1>Sign in with your DID</h1>
        <p class="from">${from === undefined ? 'Somebody who gives no name' : quoted(from)} asks you to show that a DID is yours.</p>
      </header>
      ${scan(text, 'the authentication challenge')}
      <div>
        ${steps([
          html`Open the wallet app that keeps your DIDs, and let it scan the code.`,
          html`Look who asks: your wallet shows it too. Your answer goes to <bdi>${host}</bdi>.`,
          html`Choose the DID that you are known by there, and confirm. Your wallet signs, and there is no password to type.`,
        ])}
        <aside class="note">
          <p>
            <strong>Go on only if you began this sign-in yourself, just now.</strong> If somebody sent you this link, they could be signed
            in as you. Nobody has checked the name that it shows.
          </p>
        </aside>
        ${toCopy('Your wallet is on this device, or has no camera?', [{ label: 'Copy this text into your wallet:', text }])}
        <footer><p>The link takes one answer, until ${moment(new Date(challenge.expireAt))}.</p></footer>
      </div>`,
  }
}
