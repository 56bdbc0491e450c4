import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import type { Client } from '../../daemon/client/client.ts'
import type { Input } from '../../cli/client/api.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { readIncoming, requestIn } from '../../cli/incoming.ts'
import { yesFlag } from '../../cli/input/arguments.ts'
import { readJson } from '../../cli/input/files.ts'
import { readTimeout } from '../../cli/input/time.ts'
import { credentialFlag, presentTo } from '../../cli/present.ts'

const route = 'POST /present-proof/presentations/openid4vp/requests'
type Body = NonNullable<Input<typeof route>['body']>

export default defineCommand({
  summary: 'Answer a request of a verifier over OpenID4VP with credentials of the wallet',
  description:
    'Prints the verifier, how far it can be trusted, and the claims that would be disclosed, and asks for consent. Without a terminal, --yes is required. An answer of no tells the verifier that the request was declined (access_denied). Without --credential, presents the credential that matches each query; if several do, asks which, or lists them and exits with 2. Revoked, suspended and expired credentials are left out: --explain lists the reasons. Exits with 3 if none matches.',
  examples: [
    `agent oid4vc present 'openid4vp://?client_id=…&request_uri=…'`,
    'zbarcam --raw -1 | agent oid4vc present - --yes',
    `agent oid4vc present 'openid4vp://?…' --credential <id> --explain`,
    'agent oid4vc present request.json --origin https://shop.example --yes',
  ],
  args: {
    request: Args.string({
      required: true,
      ignoreStdin: true,
      description:
        'URL of the request, the text of its QR code, the short URL of a DID request or a challenge, or - for standard input; with --origin, a file with JSON',
    }),
  },
  flags: {
    credential: credentialFlag,
    origin: Flags.string({
      description:
        'origin of the page that makes a request of the Digital Credentials API (protocol and data, in JSON); prints the answer for the page',
    }),
    yes: yesFlag,
    explain: Flags.boolean({ description: 'print each request and check of the wallet' }),
    timeout: Flags.string({
      description: 'how long to wait for the verifier: 30s, 10m, 2h; default: 5m',
    }),
  },
  async run(context) {
    const { args, flags, call } = context
    readTimeout(flags)
    const body = await readRequest(call, args.request, flags.origin)
    return presentTo(context, await call(route, { body }))
  },
})

/**
 * A URL, or a request of the Digital Credentials API. The daemon validates it. A DID request or a challenge
 * may carry a request.
 *
 * @throws {UsageError} when it is of another kind, or not JSON
 */
async function readRequest(call: Client, text: string, origin: string | undefined): Promise<Body> {
  if (origin !== undefined)
    return { digitalRequest: readJson('request', `@${text}`) as Body['digitalRequest'], origin }
  const read = await readIncoming(call, text, 'openid4vp-request', 'did-request', 'challenge')
  return { authorizationRequest: requestIn(read) ?? read.text }
}
