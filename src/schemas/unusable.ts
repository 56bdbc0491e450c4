/** Why a schema cannot be used. */
export type Unusable = {
  /** Names of members that lead to the part that is wrong; none for the whole. */
  path: readonly string[]
  reason: string
}

export class UnusableSchema extends Error implements Unusable {
  override name = 'UnusableSchema'
  readonly path: readonly string[]
  readonly reason: string

  constructor(path: readonly string[], reason: string, options?: ErrorOptions) {
    super([path.join('.') || 'schema', reason].join(': '), options)
    this.path = path
    this.reason = reason
  }
}
