/** The pages of DID requests and authentication challenges, for a person who opens their link in a browser. */
import type { Challenge } from '../../src/enterprise/authentication.ts'
import type { DidRequest } from '../../src/enterprise/onboarding.ts'
import { html, line, visibleJson, type Html } from './html.ts'
import type { Page } from './page.ts'
import { copyFields, maxLineLength, moment, qrFigure, quoted, steps } from './parts.ts'

/** `endsAt` is when the link expires, `staleAfterMs` how long that is from now. */
export function didRequestPage(
  didRequest: DidRequest,
  { endsAt, staleAfterMs }: { endsAt: Date; staleAfterMs: number },
): Page {
  return sessionPage({
    kind: 'DID request',
    document: didRequest,
    request: 'asks for a DID',
    unnamedTitle: 'Request for a DID',
    intro:
      'A DID is an identifier that your wallet creates and that only you control. The sender will recognise you by it.',
    endpoint: didRequest.onboardEndpoint,
    lastStep: 'Choose a DID, or let your wallet create a new one, and confirm. You can also decline.',
    warning: html`The sender chose the name on this page, and it is not verified. If you did not expect this
    request, close the page: opening it sends nothing.`,
    endsAt,
    staleAfterMs,
  })
}

export function challengePage(challenge: Challenge, { staleAfterMs }: { staleAfterMs: number }): Page {
  return sessionPage({
    kind: 'Authentication challenge',
    document: challenge,
    request: 'asks you to sign in',
    unnamedTitle: 'Sign in with your DID',
    intro: 'You sign in with your DID: your wallet signs the challenge, and there is no password to type.',
    endpoint: challenge.submissionEndpoint,
    lastStep: 'Choose the DID that you use there, and confirm.',
    warning: html`<strong>Continue only if you started this sign-in yourself, just now.</strong> Another
      person who sent you this link could be signed in as you. The name on this page is not verified.`,
    endsAt: new Date(challenge.expireAt),
    staleAfterMs,
  })
}

type SessionPage = {
  kind: string
  /** The document that the QR code holds. */
  document: DidRequest | Challenge
  /** The action of the sender, after its name. */
  request: string
  /** The title when the sender gave no name. */
  unnamedTitle: string
  intro: string
  endpoint: string
  lastStep: string
  warning: Html
  endsAt: Date
  staleAfterMs: number
}

function sessionPage(page: SessionPage): Page {
  const from = line(page.document.from, maxLineLength)
  const text = visibleJson(page.document)
  const { host } = new URL(page.endpoint)
  const heading = from === undefined ? page.unnamedTitle : html`${quoted(from)} ${page.request}`
  return {
    title: from === undefined ? page.unnamedTitle : `${from} ${page.request}`,
    isWide: true,
    staleAfterMs: page.staleAfterMs,
    content: html`<header>
        <p class="kind">${page.kind}</p>
        <h1 class="from">${heading}</h1>
        <p>${page.intro}</p>
      </header>
      ${qrFigure(text, `the ${page.kind.replace('Auth', 'auth')}`)}
      <div>
        ${steps([
          html`Open the wallet app that keeps your DIDs, and scan the code.`,
          html`Check the name that your wallet shows. Your answer goes to <bdi>${host}</bdi>.`,
          html`${page.lastStep}`,
        ])}
        <aside class="note"><p>${page.warning}</p></aside>
        ${copyFields([{ label: 'Copy this text into your wallet:', text }])}
        <footer><p>The link accepts one answer, until ${moment(page.endsAt)}.</p></footer>
      </div>`,
  }
}
