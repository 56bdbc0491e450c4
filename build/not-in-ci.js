/** Replaces the package is-in-ci, which makes Ink draw nothing where CI is set. */
export default false
