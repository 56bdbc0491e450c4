/** The English texts of the pages. Each other language has the same keys. */
import { html, type Html } from './html.ts'

export const english = {
  /** For `lang` and `Content-Language` (BCP 47). */
  language: 'en',
  /** For dates. */
  locale: 'en-GB',
  quotes: ['“', '”'] as [open: string, close: string],
  scan: 'Scan this code with your wallet.',
  tooLong: 'The text is too long for a QR code. Copy it, further down, into your wallet.',
  steps: 'What to do',
  copy: 'Your wallet is on this device, or has no camera?',
  copyLink: 'Copy this link into your wallet:',
  copyLongLink: 'If it does not accept this link, copy the long one:',
  copyText: 'Copy this text into your wallet:',
  longCode: 'Your wallet does not read the code?',
  longCodeText: 'This larger code contains the whole text. Older wallets read only such codes.',
  reload: 'To see whether this link is still open, reload the page.',

  invitation: {
    connect: {
      kind: 'Invitation to connect',
      title: 'You are invited to connect',
      text: 'If you accept, your wallet and the sender’s can exchange messages, credentials and proofs.',
      last: 'Confirm the connection, or decline it. Connecting shares none of your credentials.',
    },
    offer: {
      kind: 'Credential offer',
      title: 'You are offered a credential',
      text: 'The sender offers a credential for your wallet.',
      last: 'Check what the credential says about you. Then accept it, or decline.',
    },
    request: {
      kind: 'Proof request',
      title: 'You are asked for a proof',
      text: 'The sender asks for data from a credential in your wallet.',
      last: 'Check which data is requested. Share it only if you want the sender to have it.',
    },
    code: 'QR code of the invitation',
    purpose: 'Purpose, in the sender’s words:',
    open: 'Open your wallet app, and scan the code.',
    check: 'Check what your wallet shows about the sender.',
    destination: (host: string): Html => html`Your messages go to <bdi>${host}</bdi>.`,
    warning:
      'An invitation does not prove who made it. If you did not expect one, close this page. Opening it sends nothing to the sender.',
    copyText: 'Or, if it asks for the invitation’s text:',
    until: (moment: Html): Html => html`It can be accepted until ${moment}.`,
    expired: 'This invitation has expired',
    expiredAt: (moment: Html): Html => html`It expired on ${moment}. Ask the sender for a new one.`,
    details: 'Who made this invitation?',
    from: 'DID of the other side',
    host: 'Its messages go to',
    goalCode: 'Code of its purpose',
    id: 'Invitation',
  },

  offer: {
    text: (host: Html): Html => html`${host} offers a credential for your wallet.`,
    code: 'QR code of the credential offer',
    check: (host: Html): Html => html`Check that the credential comes from ${host}.`,
    txCode: 'Enter the transaction code, which the issuer gives you on another channel.',
    warning:
      'The first wallet that opens the offer gets the credential. Do not pass this link on, and continue only if you expected it.',
    forEveryone:
      'This offer is for everyone and has no end. The issuer may ask you to log in or to show a proof first.',
    fold: 'Show the code for another device',
    get: 'Get the credential',
    delivered:
      'Whoever has this page can get the credential. Do not pass its link on. The button shows a link and a code for your wallet, which are valid for ten minutes. You can press it again later.',
  },

  didRequest: {
    kind: 'DID request',
    title: 'Request for your DID',
    named: (name: Html): Html => html`${name} asks for your DID`,
    namedTitle: (name: string) => `${name} asks for your DID`,
    text: 'A DID is an identifier that your wallet creates and only you control. The sender recognises you by it.',
    code: 'QR code of the DID request',
    last: 'Choose a DID, or let your wallet create a new one, and confirm. You can also decline.',
    warning: html`The sender chose the name on this page, and nobody has verified it. If you did not expect
    this request, close this page. Opening it sends nothing to the sender.`,
  },

  challenge: {
    kind: 'Sign-in request',
    title: 'Sign in with your DID',
    named: (name: Html): Html => html`${name} asks you to sign in`,
    namedTitle: (name: string) => `${name} asks you to sign in`,
    text: 'You sign in with your DID. Your wallet signs the request, so you type no password.',
    code: 'QR code of the sign-in request',
    last: 'Choose the DID that you use there, and confirm.',
    warning: html`<strong>Continue only if you have just started this sign-in yourself.</strong> Whoever sent
      you this link could be signed in as you. Nobody has verified the name on this page.`,
  },

  session: {
    open: 'Open the wallet app that keeps your DIDs, and scan the code.',
    check: (host: string): Html =>
      html`Check the name that your wallet shows. Your answer goes to <bdi>${host}</bdi>.`,
    until: (moment: Html): Html => html`This link accepts one answer, until ${moment}.`,
    credential: 'Answer with a credential',
    credentialText:
      'A wallet of OpenID4VP answers with one of your credentials instead. Scan this code with it. One answer counts, whichever wallet it comes from.',
    credentialCode: 'QR code of the request for a credential',
    copyRequest: 'Copy this link into a wallet of OpenID4VP:',
  },

  consent: {
    kind: 'Credential offer',
    title: 'Add this credential to your wallet?',
    text: (host: Html): Html =>
      html`${host} offers you a credential. It asks whether your wallet may get it.`,
    credential: 'Credential',
    issuerName: 'The issuer calls itself',
    issuer: 'DID of the issuer',
    person: 'You are signed in as',
    wallet: 'Your wallet',
    claims: 'The credential contains',
    code: 'Code from the issuer',
    codeHint: 'The issuer gave you this code in another way, such as by letter or by phone.',
    wrong: (guesses: number) =>
      guesses === 1
        ? 'This code is wrong. You can try once more.'
        : `This code is wrong. You can try ${guesses} more times.`,
    accept: 'Accept',
    decline: 'Decline',
    presentation: {
      text: 'First, the issuer wants to see a proof from your wallet. The next page shows which data it asks for.',
      begin: 'Show a proof',
    },
    warning:
      'Enter the code and accept only if you opened this page with your own wallet. Otherwise another person gets the credential. The issuer never asks you for the code by message or by phone.',
    refused: {
      title: 'This request cannot be answered',
      text: 'A wallet or a link asked for a credential in a way that the issuer does not accept. You need not do anything. If you began in your wallet, go back to it.',
      open: (host: Html): Html => html`Continue to ${host}`,
    },
    lostLogIn: {
      title: 'Begin again in your wallet',
      text: 'This log-in was begun in another browser, or took too long. Nothing has been issued. If another person sent you this link, close the page.',
    },
    notLoggedIn: {
      title: 'You do not get this credential now',
      text: 'You have not logged in, the log-in has failed, or the credential is for another person. You can begin again in your wallet, also with another account.',
    },
    lostPresentation: {
      title: 'Go on where you began',
      text: 'This proof was begun in another browser or on another device. If you have shown it, go back to that page, which continues by itself. If another person sent you the link or the code, close the page.',
    },
    notPresented: {
      title: 'You do not get this credential now',
      text: 'Your wallet sent no proof, it was not accepted, or the credential is for another person. You can begin again in your wallet.',
    },
  },

  presentation: {
    kind: 'Proof request',
    title: 'Show a proof with your wallet',
    text: 'You are asked for data from credentials in your wallet. This page continues by itself when your wallet has answered.',
    whole: 'that you have it, without further data',
    code: 'QR code of the proof request',
    open: 'Open your wallet app, and scan the code.',
    check: (host: string): Html => html`Check who asks. Your answer goes to <bdi>${host}</bdi>.`,
    last: 'Check which data is requested. Share it, or decline.',
    here: 'Open the wallet on this device',
    browser: {
      button: 'Choose a wallet in this browser',
      unsupported: 'This browser cannot ask wallets (Digital Credentials API).',
      aborted: 'The browser got no proof from a wallet. You can try again.',
      refused: 'The verifier did not accept the answer of your wallet. You can try again.',
    },
    warning:
      'Continue only if you began this yourself. If another person sent you this link, they get your data.',
    verified: {
      title: 'Your proof is valid',
      text: 'You can close this page and go on where you began.',
    },
    unchecked: 'The verifier accepts credentials of any issuer: who issued yours was not checked.',
    failed: {
      title: 'Your proof is not valid',
      text: 'The verifier could not accept it. Ask the verifier for a new request.',
    },
    declined: {
      title: 'No proof was sent',
      text: 'Your wallet declined the request. Ask the verifier for a new one if you want to send a proof.',
    },
    expired: {
      title: 'This request has expired',
      text: 'No wallet has answered in time. Ask the verifier for a new request.',
    },
  },

  problem: {
    other: 'The link cannot be shown.',
    400: {
      title: 'This link cannot be read',
      text: 'A part of it may be missing. Ask the sender for the whole link.',
    },
    404: {
      title: 'This link is unknown',
      text: 'This agent did not create it, or a part of it is missing. Ask the sender for the whole link.',
    },
    410: {
      title: 'This link is closed',
      text: 'It was used or withdrawn, or it has expired. If you have just answered, you are done and can close this page. Otherwise ask the sender for a new link.',
    },
    503: {
      title: 'Not available at the moment',
      text: 'Your link may still be good. Open it again later.',
    },
  },

  home: {
    kind: 'HTTP API',
    text: 'An agent for self-sovereign identity. It keeps DIDs, connections, credentials and proofs for its tenants, and exchanges DIDComm v2 messages with other agents. Its API is that of the Hyperledger Identus Cloud Agent.',
    programs: 'For programs',
    reference: (link: string): Html =>
      html`<a href="${link}">API reference</a>, to read and to try the operations`,
    document: (link: string): Html =>
      html`<a href="${link}">API document</a> (OpenAPI 3.1). Tenants send their key as <code>apikey</code>.`,
    health: (link: string): Html => html`<a href="${link}">Health</a> and version`,
    commands: 'At the command line',
    tui: html`<code>agent tui</code> opens the dashboard in a terminal.`,
    doctor: html`<code>agent doctor</code> checks the agent, and names a remedy for each fault.`,
    help: html`<code>agent --help</code> lists the commands. The folder <code>docs</code> of the program has
      the manual.`,
  },

  reference: {
    title: 'API reference',
    heading: 'HTTP API',
    text: html`Press <b>Authorize</b> and enter a key. Then open an operation, fill in its fields and press
      <b>Execute</b>: it runs on this agent. Keys leave the page with its requests only, and a reload forgets
      them.`,
    apikey: html`<code>apikey</code> is the key of a tenant. <code>agent daemon start</code> writes the key of
      the default wallet into the profile, and <code>agent profile show</code> names the profile’s file.
      <code>agent tenant create</code> makes a tenant with a key.`,
    adminKey: html`<code>x-admin-api-key</code> is the administrator’s token, <code>adminToken</code> in the
      same file. Wallets, entities and keys need it.`,
    document: (link: string): Html =>
      html`<a href="${link}">openapi.json</a> is the description (OpenAPI 3.1) for programs that generate
        clients.`,
    noScript: 'The reference needs JavaScript. The API document above has the same content.',
  },
}

export type Texts = typeof english
