# Puts the named file, below `folder`, in the place of each line "@include FILE".
$1 == "@include" {
  path = folder "/" $2
  while ((got = (getline line < path)) > 0) print line
  if (got < 0) { print "cannot read " path > "/dev/stderr"; exit 1 }
  close(path)
  next
}
{ print }
