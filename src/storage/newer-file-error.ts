/** A database file was written by a newer release, whose tables this one does not know. Nothing in it was changed. */
export class NewerFileError extends Error {
  override name = 'NewerFileError'
  readonly path: string

  /** `version` is what the file names and this release does not know. */
  constructor(path: string, version: string) {
    super(
      `${path} was written by a newer release of identity-agent (${version} is not known to this one); it was left as it is`,
    )
    this.path = path
  }
}
