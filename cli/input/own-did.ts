/** The argument of commands about a DID of the wallet. */
import * as Args from '@oclif/core/args'

export const ownDidArg = Args.string({
  required: true,
  ignoreStdin: true,
  description: 'a DID of this wallet; a did:prism in its short or long form',
})
