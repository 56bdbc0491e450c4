/** A database file is not, or is no longer, what it should be; waiting does not mend it. */
export class DamagedFileError extends Error {
  override name = 'DamagedFileError'
  readonly path: string

  /** `reason` goes on after the name of the file. */
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`${path} ${reason}`, options)
    this.path = path
  }
}
