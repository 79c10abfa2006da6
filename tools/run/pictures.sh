# shellcheck shell=bash
# Sourced by ./run: the pictures of the README and of docs, of the project's own samples.
# shellcheck disable=SC2154  # work, pg_config: set in common.sh and packages.sh

: "${root:?}"

pictures_width=1100
pictures_height=760

# The report of a job over samples/, as the README's commands make it.
make_sample_report() {
  local report=$1
  sql -c 'CREATE DATABASE pictures'
  export PGDATABASE=pictures
  sql -c 'CREATE EXTENSION neardup'
  (cd "$root" && bin/neardup load samples --table pages --quiet >/dev/null)
  sql -c "SELECT create_duplicates('page_copies', 'pages', 'id', 'body')" \
    -c "CALL refresh_duplicates('page_copies')" >/dev/null
  "$root/bin/neardup" report page_copies --out "$report" --quiet
}

# take_picture PAGE light|dark PNG. The light theme is Chromium's default and needs no setting.
take_picture() {
  local page=$1 theme=$2 picture=$3 dark=()
  if [ "$theme" = dark ]; then dark=(--blink-settings=preferredColorScheme=0); fi
  run_logged "picture-$theme" chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
    --user-data-dir="$work/pictures/chromium" "${dark[@]}" \
    --window-size="$pictures_width,$pictures_height" --screenshot="$picture" "file://$page"
}

run_pictures() {
  local theme
  set_work
  need_packages pictures
  build
  mkdir -p "$root/docs/pictures"
  prepare_server "$work/pictures"
  at_exit stop_server
  create_server "$work/pictures"
  start_server
  make_sample_report "$work/pictures/report.html"
  stop_server
  for theme in light dark; do
    take_picture "$work/pictures/report.html" $theme "$root/docs/pictures/report_$theme.png"
    pngquant --force --skip-if-larger --output "$root/docs/pictures/report_$theme.png" \
      "$root/docs/pictures/report_$theme.png" || [ $? -eq 98 ]
    say "docs/pictures/report_$theme.png"
  done
  /usr/bin/python3 "$root/tools/draw_curves.py"
  say "docs/s_curve.svg"
}
