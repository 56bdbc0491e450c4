/** `agent auth token` */
import { defineCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Exchange a challenge that was answered for a token that says who has signed in',
  description:
    'Once, and soon after the answer. The token is a JWT, which applications verify with the keys at /.well-known/jwks.json; with --quiet it stands alone.',
  examples: ['agent auth token <challenge id>', 'TOKEN=$(agent auth token <challenge id> --quiet)'],
  args: {
    id: argument('id of the challenge'),
  },
  async run({ args, call, print }) {
    const token = await call('POST /did-authentication/challenges/{challengeId}/token', {
      path: { challengeId: args.id },
    })
    print(token.token, [
      ['token', token.token],
      ['subject', token.subject],
      ['issuer', token.issuer],
      ['audience', token.audience],
      ['expires', token.expireAt],
    ])
    return token
  },
})
