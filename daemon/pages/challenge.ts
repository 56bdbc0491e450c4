/** The page of an authentication challenge (service §2.11): the person who opens it signs in with a DID. */
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
    title: from === undefined ? 'Sign in with your DID' : `${from} asks you to sign in`,
    isWide: true,
    staleAfterMs,
    content: html`<header>
        <p class="kind">Authentication challenge</p>
        <h1 class="from">
          ${from === undefined ? 'Sign in with your DID' : html`${quoted(from)} asks you to sign in`}
        </h1>
        <p>You sign in with your DID: your wallet signs the challenge, and there is no password to type.</p>
      </header>
      ${scan(text, 'the authentication challenge')}
      <div>
        ${steps([
          html`Open the wallet app that keeps your DIDs, and let it scan the code.`,
          html`Check the name that your wallet shows. Your answer goes to <bdi>${host}</bdi>.`,
          html`Choose the DID that you use there, and confirm.`,
        ])}
        <aside class="note">
          <p>
            <strong>Continue only if you started this sign-in yourself, just now.</strong> Another person who
            sent you this link could be signed in as you. The name on this page is not verified.
          </p>
        </aside>
        ${toCopy('Your wallet is on this device, or has no camera?', [{ label: 'Copy this text into your wallet:', text }])}
        <footer><p>The link takes one answer, until ${moment(new Date(challenge.expireAt))}.</p></footer>
      </div>`,
  }
}
