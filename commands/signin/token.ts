import { defineCommand } from '../../cli/define-command.ts'
import { whenAhead } from '../../cli/format/time.ts'
import { idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Exchange an answered challenge for a token of the DID that has signed in',
  description:
    'Works once, and only shortly after the answer. The token is a JWT; applications verify it with the keys at /.well-known/jwks.json. With --quiet, prints the token only.',
  examples: ['agent signin token <challenge id>', 'TOKEN=$(agent signin token <challenge id> --quiet)'],
  args: idOf('challenge'),
  async run({ args, call, print }) {
    const token = await call('POST /did-authentication/challenges/{challengeId}/token', {
      path: { challengeId: args.id },
    })
    print(token.token, [
      ['token', token.token],
      ['subject', token.subject],
      ['issuer', token.issuer],
      ['audience', token.audience],
      ['expires', whenAhead(token.expireAt, Date.now())],
    ])
    return token
  },
})
