/**
 * The hand in perl: reads requests (length, then words separated by NUL) and answers each (length, then `+` and the answer or `-` and
 * the reason). It looks before it opens and opens without waiting, so nothing but a regular file is ever read.
 */
export const perlScript = String.raw`
use strict;
use Fcntl qw(:DEFAULT :mode);
BEGIN {
  eval { require filetest; filetest->import("access") };
  eval { require Time::HiRes; Time::HiRes->import(qw(stat lstat)) };
}
my %verbs = (stat => \&stat_file, read => \&read_file, write => \&write_file, remove => \&remove_file, delete => \&delete_file, move => \&move_file, list => \&list, scan => \&scan);
my %skipped = map { $_ => 1 } qw(. .. .git node_modules);

binmode STDIN;
answer("+ready");
while (defined(my $head = take(4))) {
  my $body = take(unpack "N", $head);
  last unless defined $body;
  my ($verb, $rest) = split /\0/, $body, 2;
  my $done = eval { $verbs{$verb}->($rest) };
  answer(defined $done ? "+$done" : "-$@");
}

sub take {
  my ($length) = @_;
  my $got = "";
  return (read(STDIN, $got, $length) // 0) == $length ? $got : undef;
}

sub answer {
  my $frame = pack("N", length $_[0]) . $_[0];
  for (my $sent = 0; $sent < length $frame;) {
    $sent += syswrite(STDOUT, $frame, length($frame) - $sent, $sent) // exit 1;
  }
}

sub stat_file {
  my @found = stat $_[0] or die "$!\n";
  return facts(@found);
}

sub facts { return sprintf "%x %d %.6f", @_[2, 7, 9] }

sub read_file {
  my ($path, $from, $bytes) = split /\0/, $_[0];
  regular(stat $path);
  sysopen my $file, $path, O_RDONLY | O_NONBLOCK | O_NOCTTY or die "$!\n";
  my @found = stat $file;
  regular(@found);
  $from == 0 or defined sysseek $file, $from, 0 or die "$!\n";
  my $got = "";
  while (length $got < $bytes) {
    my $more = sysread $file, $got, $bytes - length $got, length $got;
    defined $more or die "$!\n";
    last if $more == 0;
  }
  return facts(@found) . "\n" . $got;
}

sub regular {
  die "$!\n" unless @_;
  die "Is a directory\n" if S_ISDIR($_[2]);
  die "not a regular file\n" unless S_ISREG($_[2]);
}

sub write_file {
  my ($path, $name, $size, $expected, $content) = split /\0/, $_[0], 5;
  my $file = behind_links($path);
  my @old = stat $file;
  if (@old) {
    regular(@old);
    -w $file or die "Permission denied\n";
  }
  my $folder = folder_of($file);
  make_folder($folder);
  sysopen my $out, $folder . $name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, @old ? 0600 : 0666 or die "$!\n";
  my $done = eval {
    fill($out, $content);
    keep_owner_and_mode($out, @old) if @old;
    close $out or die "$!\n";
    replace($folder . $name, $file, $expected);
    1;
  };
  return "" if $done;
  my $reason = $@;
  unlink $folder . $name;
  die $reason;
}

sub behind_links {
  my ($path) = @_;
  for (1 .. 40) {
    my $link = readlink $path;
    return $path unless defined $link;
    $path = $link =~ m{^/} ? $link : folder_of($path) . $link;
  }
  die "Too many levels of symbolic links\n";
}

sub folder_of {
  my ($path) = @_;
  $path =~ s{[^/]*\z}{};
  return $path eq "" ? "./" : $path;
}

sub make_folder {
  my ($folder) = @_;
  return if -d $folder;
  (my $above = $folder) =~ s{/*[^/]+/*\z}{};
  make_folder($above) if $above ne "";
  mkdir $folder or -d $folder or die(-e $folder ? "Not a directory\n" : "$!\n");
}

sub fill {
  my $out = shift;
  for (my $sent = 0; $sent < length $_[0];) {
    $sent += syswrite($out, $_[0], length($_[0]) - $sent, $sent) // die "$!\n";
  }
}

sub keep_owner_and_mode {
  my ($out, @old) = @_;
  my @new = stat $out;
  chown $old[4], $old[5], $out if $old[4] != $new[4] or $old[5] != $new[5];
  chmod S_IMODE($old[2]), $out or die "$!\n";
}

sub replace {
  my ($new, $file, $expected) = @_;
  if ($expected eq "none") {
    link $new, $file or die(defined readlink $file || -e $file ? "exists\n" : "$!\n");
    unlink $new;
    return;
  }
  die "changed\n" if $expected ne "" and sum($file) ne $expected;
  rename $new, $file or die "$!\n";
}

sub sum {
  my ($path) = @_;
  my @found = stat $path;
  return "" unless @found and S_ISREG($found[2]) and sysopen my $file, $path, O_RDONLY | O_NONBLOCK;
  if (eval { require Digest::SHA }) {
    return Digest::SHA->new(256)->addfile($file)->hexdigest;
  }
  open my $pipe, "-|", "sha256sum", $path or die "$!\n";
  return <$pipe> =~ /([0-9a-f]{64})/ ? $1 : "";
}

sub remove_file {
  my ($path, $name) = split /\0/, $_[0];
  unlink folder_of(behind_links($path)) . $name;
  return "";
}

sub delete_file {
  my ($path, $expected) = split /\0/, $_[0], 2;
  same($path, $expected);
  unlink $path or die "$!\n";
  return "";
}

sub move_file {
  my ($path, $to, $expected) = split /\0/, $_[0], 3;
  same($path, $expected);
  make_folder(folder_of($to));
  link $path, $to or die(defined readlink $to || -e $to ? "exists\n" : "$!\n");
  unlink $path or die "$!\n";
  return "";
}

sub same {
  my ($path, $expected) = @_;
  regular(lstat $path);
  die "changed\n" if $expected ne "" and sum($path) ne $expected;
}

sub list {
  my ($path, $limit) = split /\0/, $_[0];
  die "not a folder\n" if -e $path and not -d $path;
  my @names = grep { $_ ne "." and $_ ne ".." } names_in($path, 200_000);
  @names = sort @names;
  splice @names, $limit if @names > $limit;
  return join "", map { my @found = lstat "$path/$_"; @found ? sprintf "%x %d ./%s\n", @found[2, 7], $_ : () } @names;
}

sub names_in {
  my ($path, $limit) = @_;
  opendir my $folder, $path or die "$!\n";
  my @names;
  while (defined(my $name = readdir $folder)) {
    push @names, $name;
    last if @names > $limit;
  }
  return @names;
}

sub scan {
  my ($depth, $limit, @given) = split /\0/, $_[0];
  my $answer = "";
  my @below;
  for my $path (@given) {
    my @found = stat $path or next;
    $answer .= trace($path, @found);
    push @below, $path if $depth eq "deep" and S_ISDIR($found[2]);
  }
  while (defined(my $folder = shift @below)) {
    for my $name (grep { !$skipped{$_} } eval { names_in($folder, $limit) }) {
      return $answer if $limit-- <= 0;
      my @found = lstat "$folder/$name" or next;
      $answer .= trace("$folder/$name", @found);
      push @below, "$folder/$name" if S_ISDIR($found[2]);
    }
  }
  return $answer;
}

sub trace {
  my ($path, @found) = @_;
  return sprintf "%x %d %d %.9f %s\n", @found[2, 7, 1, 10], $path;
}
`;
